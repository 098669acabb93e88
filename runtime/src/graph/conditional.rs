//! Parts of graphs that are done if a number in memory is not zero, or as long as it is not.

use std::sync::Arc;

use gpu_std::host::Access;

use super::{
    Capture, Node,
    plan::{Operation, Plan, Use, Uses},
    recording::{Branch, Recording},
    wrap_recording,
};
use crate::{
    DeviceSlice, Error, Result,
    backend::{Backend, each},
    slice::same_length,
};

/// A number in the memory of a graph, on which a part of the graph depends: what [`Capture::condition`] returns.
#[doc(alias = "cudaGraphConditionalHandle", alias = "CUgraphConditionalHandle")]
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// The number of the capture.
    capture: u64,
    used: Use,
}

/// What a step does as often as its condition says.
pub(crate) struct Conditional<B: Backend> {
    /// Whether it is done again and again.
    pub(crate) is_loop: bool,
    /// Where the number is, of 32 bits.
    pub(crate) condition: usize,
    pub(crate) body: Plan<B>,
}

impl Capture {
    /// Names a number in the graph's memory, on which parts of the graph may depend: a slice of one element.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for a slice of another length; [`Error::NotInGraph`] for memory that the graph does not hold.
    #[doc(alias = "cudaGraphConditionalHandleCreate", alias = "cuGraphConditionalHandleCreate")]
    pub fn condition(&self, number: &DeviceSlice<u32>) -> Result<Condition> {
        same_length(number.len(), 1)?;
        self.branch()?.condition(Use::of(number, Access::Read))
    }

    /// Records work that each launch of the graph does if the number is not zero when the graph comes there (a conditional node, `cudaGraphCondTypeIf`).
    /// Needs CUDA 12.4 on a GPU.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let memory = (device.zeroed::<u32>(1)?, device.zeroed::<f32>(3)?);
    /// let mut graph = device.stream()?.capture(memory, |capture, (flag, x)| {
    ///     let condition = capture.condition(flag)?;
    ///     capture.if_nonzero(condition, |body| body.fill(x, 1.5))
    /// })?;
    /// # if device.is_gpu() { return Ok(()); }
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [0.0; 3]);
    /// graph.memory_mut().0.fill(1)?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [1.5; 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `code`; [`Error::WrongNode`] for the condition of another capture; [`Error::CaptureEnded`]. Of the capture, [`Error::DriverTooOld`]. In the part,
    /// [`Error::NotCapturable`] for callbacks, and its nodes are none of the graph's: they cannot be [updated](crate::Graph::update).
    ///
    /// Until `code` returns, [`Error::OuterCapture`] for whatever records on this capture or on another branch of it, also by another thread: it would come before
    /// the part, not into it. [`condition`](Self::condition) records nothing.
    #[doc(
        alias = "cudaGraphCondTypeIf",
        alias = "cudaGraphSetConditional",
        alias = "cudaGraphNodeTypeConditional"
    )]
    pub fn if_nonzero<R>(
        &self,
        condition: Condition,
        code: impl FnOnce(&Capture) -> Result<R>,
    ) -> Result<Node> {
        self.conditional(condition, false, code)
    }

    /// Records work that each launch of the graph repeats as long as the number is not zero (a conditional node, `cudaGraphCondTypeWhile`): not at all, if
    /// it is zero when the graph comes there. Needs CUDA 12.4 on a GPU.
    ///
    /// If a kernel of it panics, it ends with that round, because it might have no end else. On a GPU it also ends if other kernels of the same modules have
    /// panicked, whose error nobody has waited for yet.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    /// use gpukernel::{Device, LaunchConfig};
    /// # use gpukernel::Image;
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// /// One step, and whether there are more.
    /// #[kernel]
    /// pub fn step(left: PerThread<u32>, sum: PerThread<u32>) {
    ///     for ((_, left), (_, sum)) in left.into_iter().zip(sum) {
    ///         *sum += *left;
    ///         *left -= 1;
    ///     }
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let module = device.load(&KERNELS)?;
    /// let memory = (device.upload(&[10])?, device.zeroed::<u32>(1)?);
    /// let mut graph = device.stream()?.capture(memory, |capture, (left, sum)| {
    ///     let condition = capture.condition(left)?;
    ///     capture.while_nonzero(condition, |body| {
    ///         body.launch(&module, step, LaunchConfig::new(1, 1), (left, sum))
    ///     })
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [55]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`if_nonzero`](Self::if_nonzero).
    #[doc(alias = "cudaGraphCondTypeWhile", alias = "cudaGraphSetConditional")]
    pub fn while_nonzero<R>(
        &self,
        condition: Condition,
        code: impl FnOnce(&Capture) -> Result<R>,
    ) -> Result<Node> {
        self.conditional(condition, true, code)
    }

    fn conditional<R>(
        &self,
        condition: Condition,
        is_loop: bool,
        code: impl FnOnce(&Capture) -> Result<R>,
    ) -> Result<Node> {
        let branch = self.branch()?;
        each!(branch.recording(), recording => {
            branch.check_condition(condition)?;
            let begun = recording.begin_part(method(is_loop))?;
            let inner = Arc::new(recording.body());
            let _ending = inner.ending();
            let body = Capture::new(self.recording(wrap_recording(recording.device, &inner)));
            code(&body)?;
            let plan = inner.end()?;
            drop(begun);
            branch.add_conditional(recording, condition, is_loop, plan)
        })
    }
}

/// The name of the method that records it.
fn method(is_loop: bool) -> &'static str {
    if is_loop { "while_nonzero" } else { "if_nonzero" }
}

impl Branch {
    fn condition(&self, used: Use) -> Result<Condition> {
        each!(self.recording(), recording => {
            let used = recording.uses(&[used], "a condition")?[0];
            Ok(Condition { capture: recording.number, used })
        })
    }

    fn check_condition(&self, condition: Condition) -> Result<()> {
        // Of this capture, or of one of which this is a part.
        match each!(self.recording(), recording => recording.numbers().any(|number| number == condition.capture))
        {
            true => Ok(()),
            false => Err(Error::WrongNode { doing: "a condition".to_owned() }),
        }
    }

    fn add_conditional<B: Backend>(
        &self,
        recording: &Recording<B>,
        condition: Condition,
        is_loop: bool,
        body: Plan<B>,
    ) -> Result<Node> {
        let mut uses: Uses = Uses::new();
        let of_body = body.steps.iter().flat_map(|step| &step.uses).copied();
        for used in [condition.used].into_iter().chain(of_body) {
            if !uses.contains(&used) {
                uses.push(used);
            }
        }
        let conditional = Conditional { is_loop, condition: condition.used.start(), body };
        let doing = || format!("a call of `{}`", method(is_loop));
        let operation = Operation::Conditional(Arc::new(conditional));
        let index = recording.push(self.index(), &doing, operation, uses)?;
        Ok(Node::new(recording.number, index))
    }
}
