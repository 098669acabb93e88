//! Parts of graphs that are done if a number in memory is not zero, as long as it is not, or if it is theirs.

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

/// When a part is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// If the number is not zero.
    If,
    /// Again and again, as long as it is not.
    While,
    /// If the number is that of the part.
    Switch,
}

impl When {
    /// The name of the method that records it.
    fn method(self) -> &'static str {
        match self {
            Self::If => "if_nonzero",
            Self::While => "while_nonzero",
            Self::Switch => "switch",
        }
    }
}

/// What a step does as its condition says.
pub(crate) struct Conditional<B: Backend> {
    pub(crate) when: When,
    /// Where the number is, of 32 bits.
    pub(crate) condition: usize,
    /// One, or of a [`When::Switch`] any number.
    pub(crate) parts: Box<[Plan<B>]>,
}

impl<B: Backend> Conditional<B> {
    /// The part that is done for a number.
    pub(crate) fn part(&self, number: u32) -> Option<&Plan<B>> {
        match self.when {
            When::If | When::While => self.parts.first().filter(|_| number != 0),
            When::Switch => self.parts.get(number as usize),
        }
    }
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
        let mut code = Some(code);
        self.conditional(condition, When::If, 1, |_, body| code.take().map(|code| code(body)).transpose())
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
        let mut code = Some(code);
        self.conditional(condition, When::While, 1, |_, body| code.take().map(|code| code(body)).transpose())
    }

    /// Records several parts, of which each launch of the graph does the one whose number, from 0, is in memory when the graph comes there, or none, if there is none of
    /// it (a conditional node, `cudaGraphCondTypeSwitch`). `code` describes each in turn. Needs CUDA 12.8 on a GPU.
    ///
    /// Of two parts, the second is what is done if a number that is 0 or 1 is not zero, and the first what is done else.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let memory = (device.zeroed::<u32>(1)?, device.zeroed::<f32>(3)?);
    /// let mut graph = device.stream()?.capture(memory, |capture, (flag, x)| {
    ///     let condition = capture.condition(flag)?;
    ///     capture.switch(condition, 2, |part, body| match part {
    ///         0 => body.fill(x, -1.0),
    ///         _ => body.fill(x, 1.0),
    ///     })
    /// })?;
    /// # if device.is_gpu() { return Ok(()); }
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [-1.0; 3]);
    /// graph.memory_mut().0.fill(1)?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [1.0; 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`if_nonzero`](Self::if_nonzero).
    #[doc(alias = "cudaGraphCondTypeSwitch", alias = "match", alias = "else")]
    pub fn switch<R>(
        &self,
        condition: Condition,
        parts: usize,
        code: impl FnMut(usize, &Capture) -> Result<R>,
    ) -> Result<Node> {
        self.conditional(condition, When::Switch, parts, code)
    }

    fn conditional<R>(
        &self,
        condition: Condition,
        when: When,
        parts: usize,
        mut code: impl FnMut(usize, &Capture) -> Result<R>,
    ) -> Result<Node> {
        let branch = self.branch()?;
        each!(branch.recording(), recording => {
            branch.check_condition(condition)?;
            let begun = recording.begin_part(when.method())?;
            let mut describe = |part| {
                let inner = Arc::new(recording.body());
                let _ending = inner.ending();
                let body = Capture::new(self.recording(wrap_recording(recording.device, &inner)));
                code(part, &body)?;
                inner.end()
            };
            let parts = (0..parts).map(&mut describe).collect::<Result<_>>()?;
            drop(begun);
            branch.add_conditional(recording, condition, when, parts)
        })
    }
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
        when: When,
        parts: Box<[Plan<B>]>,
    ) -> Result<Node> {
        let mut uses: Uses = Uses::new();
        let of_parts = parts.iter().flat_map(|part| &part.steps).flat_map(|step| &step.uses).copied();
        for used in [condition.used].into_iter().chain(of_parts) {
            if !uses.contains(&used) {
                uses.push(used);
            }
        }
        let conditional = Conditional { when, condition: condition.used.start(), parts };
        let doing = || format!("a call of `{}`", when.method());
        let operation = Operation::Conditional(Arc::new(conditional));
        let index = recording.push(self.index(), &doing, operation, uses)?;
        Ok(Node::new(recording.number, index))
    }
}
