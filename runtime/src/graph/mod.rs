//! Graphs (`cudaGraph_t`): work that is described once, and launched as one.

mod capture;
mod clone;
mod conditional;
mod launch;
mod memory;
mod node;
mod pinned;
mod plan;
mod recording;
mod update;

use std::{fmt, sync::Arc};

use crate::{
    Event, Result, Stream,
    backend::{Any, Backend, BackendGraph, Graphs, OfDevice, Recordings, StreamOf, each},
};

pub use capture::Capture;
pub use conditional::Condition;
pub(crate) use conditional::{Conditional, When};
pub(crate) use launch::Launch;
pub use memory::GraphMemory;
use memory::Noted;
pub use node::{Node, Nodes};
pub use pinned::{GraphPinned, PinnedSlice, PinnedSliceMut};
use plan::Uses;
pub(crate) use plan::{Operation, Place, Plan, Use};
pub(crate) use recording::{Branch, Recording};
pub use update::{ForeignKernel, Update};

/// Launches and copies that are queued by one call (`cudaGraphExec_t`): on a GPU much faster than one after another. [`Stream::capture`]
/// creates it.
///
/// A graph holds the memory that its work uses: nobody else writes it, and it is not freed, as long as the graph is there.
///
/// ```
/// use gpu_std::prelude::*;
/// use gpukernel::{Device, for_each};
/// # use gpukernel::Image;
/// # use gpukernel_image::{ImageWriter, Manifest};
///
/// #[kernel]
/// pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
///     for (i, y) in y {
///         *y += a * x[i];
///     }
/// }
///
/// # let mut manifest = Manifest::new("doc");
/// # manifest.no_code = Some("this is an example".to_owned());
/// # // SAFETY: it holds no code.
/// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
/// let device = Device::cpu();
/// let (module, stream) = (device.load(&KERNELS)?, device.stream()?);
/// let x = device.upload(&[1.0, 2.0, 3.0])?;
/// let y = device.zeroed(3)?;
///
/// let mut graph = stream.capture((&x, y), |capture, (x, y)| {
///     let first = capture.launch(&module, saxpy, for_each(3), (1.0, x, y))?;
///     capture.launch(&module, saxpy, for_each(3), (10.0, x, y))?;
///     Ok(first)
/// })?;
/// graph.launch()?;
/// graph.launch()?;
/// assert_eq!(graph.memory().1.to_vec()?, [22.0, 44.0, 66.0]);
///
/// let first = *graph.nodes();
/// graph.update(first, |update, (x, y)| update.launch(for_each(3), (0.0, x, y)))?;
/// graph.launch()?;
/// let (_, y) = graph.into_memory();
/// assert_eq!(y.to_vec()?, [32.0, 64.0, 96.0]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[doc(alias = "cudaGraph_t", alias = "cudaGraphExec_t", alias = "CUgraph", alias = "CUgraphExec")]
pub struct Graph<M: GraphMemory, N = ()> {
    /// Before the memory: its end waits for its work.
    graph: Any<Graphs>,
    stream: Stream,
    nodes: N,
    /// Whether it holds memory of the host.
    uses_host: bool,
    memory: M,
}

/// A graph of a device.
pub(crate) struct Instantiated<B: Backend> {
    device: &'static B,
    plan: Plan<B>,
    graph: B::Graph,
    /// The number of its capture.
    number: u64,
}

impl<B: Backend> OfDevice for Instantiated<B> {
    type Device = B;

    fn device(&self) -> &'static B {
        self.device
    }
}

impl<B: Backend> Instantiated<B> {
    fn new(recording: &Recording<B>, device: &'static B) -> Result<Self> {
        let plan = recording.end()?;
        // SAFETY: the graph of which this becomes a part holds the memory.
        let graph = unsafe { device.instantiate(&plan)? };
        Ok(Self { device, plan, graph, number: recording.number })
    }

    /// # Safety
    /// The graph holds the memory, and is not launched by others.
    unsafe fn launch(&mut self, stream: &StreamOf<Self>) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.graph.launch(stream, &self.plan) }
    }

    /// Replaces a step.
    ///
    /// # Safety
    /// The graph holds the memory that the new step uses.
    unsafe fn replace(&mut self, index: usize, launch: Launch<B>, uses: Uses) -> Result<()> {
        let edges = std::mem::take(&mut self.plan.edges);
        let old = self.plan.replace(index, Operation::Launch(Arc::new(launch)), uses);
        let updated = match edges == self.plan.edges {
            // SAFETY: as the caller promises.
            true => unsafe { self.graph.update(index, &old.operation, &self.plan) },
            false => Ok(false),
        };
        let updated = updated.and_then(|is_done| {
            if !is_done {
                // SAFETY: as above.
                self.graph = unsafe { self.device.instantiate(&self.plan)? };
            }
            Ok(())
        });
        if updated.is_err() {
            self.plan.put(index, old);
        }
        updated
    }
}

impl Stream {
    /// Describes a graph (`cudaStreamBeginCapture`, `cudaStreamEndCapture`, `cudaGraphInstantiate`): what `code` launches and copies on the
    /// [`Capture`] that it gets is recorded, and nothing of it runs. The graph holds `memory`, of which the code gets slices.
    ///
    /// The values that kernels get are those of now, and so are the elements of copies from slices of the host. What is in [`GraphPinned`] memory is copied
    /// at each launch. What the code launches elsewhere is no part of the graph.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let memory = (device.upload(&[1, 2, 3])?, device.zeroed(3)?);
    /// let mut graph = device.stream()?.capture(memory, |capture, (x, y)| capture.copy(x, y))?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `code`; [`Error::NotCapturable`](crate::Error::NotCapturable) on a stream that is being captured; what the driver says.
    #[doc(
        alias = "cudaStreamBeginCapture",
        alias = "cudaStreamEndCapture",
        alias = "cudaGraphInstantiate",
        alias = "CUDAGraph"
    )]
    pub fn capture<M: GraphMemory, N>(
        &self,
        mut memory: M,
        code: impl FnOnce(&Capture, M::Lent<'_>) -> Result<N>,
    ) -> Result<Graph<M, N>> {
        self.not_captured("a capture")?;
        let Noted { pieces, host, .. } = Noted::of(&memory);
        let uses_host = !host.is_empty();
        let (graph, nodes) = each!(&self.backend, stream => {
            let device = stream.device();
            let recording = Arc::new(Recording::new(device, pieces));
            let _ending = recording.ending();
            let capture = Capture::new(self.recording(wrap_recording(device, &recording)));
            // SAFETY: the memory is borrowed for writing while the code runs, which cannot keep what it is lent.
            let nodes = code(&capture, unsafe { M::lend(&raw mut memory) })?;
            (wrap_graph(device, Instantiated::new(&recording, device)?), nodes)
        });
        Ok(Graph { graph, stream: self.clone(), nodes, uses_host, memory })
    }
}

fn wrap_recording<B: Backend>(_: &'static B, recording: &Arc<Recording<B>>) -> Any<Recordings> {
    B::wrap(Arc::clone(recording))
}

fn wrap_graph<B: Backend>(_: &'static B, graph: Instantiated<B>) -> Any<Graphs> {
    B::wrap(graph)
}

impl<M: GraphMemory, N> Graph<M, N> {
    /// Queues the graph's work on the stream that it was captured on (`cudaGraphLaunch`). Launches of the same graph run one after
    /// another.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver) or [`Error::ContextLost`](crate::Error::ContextLost). Whoever waits for the device next gets those of kernels; what comes after a kernel
    /// that panics is done all the same, except that loops end with the round ([`while_nonzero`](Capture::while_nonzero)).
    #[doc(alias = "cudaGraphLaunch", alias = "cuGraphLaunch", alias = "replay")]
    pub fn launch(&mut self) -> Result<()> {
        let Self { graph, stream, uses_host, memory, .. } = self;
        launch(graph, stream, *uses_host, memory)
    }

    /// Queues the graph's work on another stream of its device.
    ///
    /// # Errors
    /// As [`launch`](Self::launch), and [`Error::WrongDevice`](crate::Error::WrongDevice) for a stream of another device.
    #[doc(alias = "cudaGraphLaunch", alias = "cuGraphLaunch")]
    pub fn launch_on(&mut self, stream: &Stream) -> Result<()> {
        launch(&mut self.graph, stream, self.uses_host, &self.memory)
    }

    /// Prepares the device for the next launch, which is then faster (`cudaGraphUpload`). Queued on the stream of the capture.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver) or [`Error::ContextLost`](crate::Error::ContextLost).
    #[doc(alias = "cudaGraphUpload", alias = "cuGraphUpload")]
    pub fn upload(&mut self) -> Result<()> {
        each!(&mut self.graph, graph => {
            let stream = Stream::or_default(Some(&self.stream), graph.device, &|| "a graph".to_owned())?;
            graph.graph.upload(stream)
        })
    }

    /// What the code that described the graph returned: nodes, for [`update`](Self::update).
    pub fn nodes(&self) -> &N {
        &self.nodes
    }

    /// The memory that the graph holds. Copies to the host wait for the graph, and so does [`GraphPinned::read`].
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// The memory that the graph holds, for writing: what it reads at its next launch.
    pub fn memory_mut(&mut self) -> M::Lent<'_> {
        // SAFETY: it is borrowed for writing for the lifetime.
        unsafe { M::lend(&raw mut self.memory) }
    }

    /// Gives the memory back. Waits for the graph.
    pub fn into_memory(self) -> M {
        self.memory
    }
}

/// Queues a graph's work on a stream of its device.
fn launch<M: GraphMemory>(
    graph: &mut Any<Graphs>,
    stream: &Stream,
    uses_host: bool,
    memory: &M,
) -> Result<()> {
    stream.not_captured("a graph")?;
    each!(graph, graph => {
        let queue = Stream::or_default(Some(stream), graph.device, &|| "a graph".to_owned())?;
        // SAFETY: the graph holds the memory, and is borrowed for writing.
        let mut launch = || unsafe { graph.launch(queue) };
        if !uses_host {
            return launch();
        }
        let host = Noted::of(memory).host;
        host.iter().try_for_each(|piece| piece.uses.order(stream, piece.access))?;
        let launched = launch();
        // Also if it failed: the error may be of other work.
        let end = Event::record(stream).ok();
        host.iter().for_each(|piece| piece.uses.note(stream, piece.access, end.clone()));
        launched
    })
}

impl<M: GraphMemory, N> fmt::Debug for Graph<M, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = each!(&self.graph, graph => graph.plan.steps.len());
        f.debug_struct("Graph")
            .field("device", &self.stream.device())
            .field("steps", &steps)
            .finish_non_exhaustive()
    }
}
