//! What the code that describes a graph records its work by.

use std::{fmt, ops::Deref, sync::Arc};

use gpu_std::{
    DeviceCopy,
    host::{Kernel, SafeKernel},
};

use super::{
    ForeignKernel, PinnedSlice, PinnedSliceMut,
    node::{Node, Nodes},
    recording::Branch,
};
use crate::{
    DeviceSlice, Error, ForeignModule, LaunchConfig, Module, RawArg, Result, Stream,
    backend::{Any, Recordings},
    module::ThisRuntime,
    slice::same_length,
    view::{Region, RowsLayout, View, ViewMut},
};

/// A stream whose work becomes part of a graph in place of being queued (`cudaStreamBeginCapture`): what [`Stream::capture`] gives to the
/// code that it calls.
///
/// Derefs to [`Stream`], so that it can be passed to functions that launch on a stream. What a graph cannot do is an [`Error::NotCapturable`] that says so:
///
/// | of a stream | in a graph |
/// |---|---|
/// | `launch`, `copy`, `copy_view`, `fill` | are recorded; the methods here return the node, too |
/// | `copy_to_device`, `copy_view_to_device` | are recorded, with the elements of now |
/// | `launch_unsafe`, `launch_foreign`, `callback`, `copy_to_pinned`, `copy_from_pinned` | as methods of `Capture`, not of `Stream`: what is promised or given for one launch is used by each of the graph's |
/// | `copy_to_host`, `copy_view_to_host`, `scope` | no: the host's memory has to be there at each launch; [`copy_to_pinned`](Self::copy_to_pinned), [`copy_view_to_pinned`](Self::copy_view_to_pinned), or a copy after the launch |
/// | `upload`, `zeroed`, `filled`, `uninit`, allocators | no: allocate before, and give the buffer to [`Stream::capture`] |
/// | `synchronize`, `is_done`, `.await` | no: a graph has no host to wait for; wait for the stream after a launch |
/// | `record`, `record_exportable`, `wait`, `hold` | no: [`fork`](Self::fork), [`join`](Self::join) and [`after`](Self::after) order work here, events before and after a launch |
/// | `copy_peer` | no: kernels can [use memory of another GPU](crate::Device::enable_peer_access) |
/// | [`UnifiedBuffer::prefetch`](crate::UnifiedBuffer::prefetch) | no: before the launch. `advise` is work of no stream, and has its effect at once |
/// | `queue`, `to_cudarc`, `lend_to_cudarc` | no: what libraries queue cannot be seen; [`launch_foreign`](Self::launch_foreign) if it is a kernel |
/// | `capture`, [`Graph::launch_on`](crate::Graph::launch_on) | no: there are no graphs in graphs |
/// | `device`, `as_raw` | those of the stream of the capture: what is queued by the handle runs at once, and is no part of the graph |
///
/// Work comes after what was recorded before it, unless it is recorded in another branch: [`fork`](Self::fork) and [`join`](Self::join) describe those
/// as streams and events do, [`after`](Self::after) as edges between nodes do (`cudaGraphAddKernelNode`). Work that uses the same memory is ordered as it
/// was recorded in any case, so that no edge can be forgotten.
///
/// While the closure of [`if_nonzero`](Self::if_nonzero), [`while_nonzero`](Self::while_nonzero) or [`switch`](Self::switch) describes a part of the graph, work is recorded on the capture
/// that the closure gets. On those around it, all that records is [`Error::OuterCapture`] until the closure returns.
#[doc(alias = "cudaStreamBeginCapture", alias = "cudaStreamCaptureMode", alias = "cudaGraphCreate")]
pub struct Capture {
    stream: Stream,
}

impl Capture {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream }
    }

    /// Records a launch, as [`Stream::launch`], and returns its node, which [`Graph::update`](crate::Graph::update) takes.
    ///
    /// # Errors
    /// As [`Stream::launch`], of what can be known before the kernel runs; [`Error::NotInGraph`] for memory that the graph does not hold.
    #[doc(alias = "cudaGraphAddKernelNode")]
    #[track_caller]
    pub fn launch<K: SafeKernel>(
        &self,
        module: &Module,
        kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<Node<K>> {
        // SAFETY: a safe kernel asks for nothing.
        unsafe { self.launch_unsafe(module, kernel, config, args) }
    }

    /// Records a launch of an `unsafe fn` kernel.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    ///
    /// # Safety
    /// As for [`Module::launch_unsafe`], for every launch of the graph and of its clones, which have other memory, whatever is in the memory then.
    #[track_caller]
    pub unsafe fn launch_unsafe<K: Kernel>(
        &self,
        module: &Module,
        _kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<Node<K>> {
        // SAFETY: as the caller promises.
        unsafe { self.branch()?.launch::<K>(module, config, args) }
    }

    /// Records a launch of the kernel `name` of code that another compiler made, as [`Stream::launch_foreign`], and returns its node, which
    /// [`Graph::update_foreign`](crate::Graph::update_foreign) takes.
    ///
    /// ```no_run
    /// # let (device, code) = (gpukernel::Device::gpu(0)?, []);
    /// # use gpukernel::{LaunchConfig, RawArg};
    /// // SAFETY: nvcc wrote it.
    /// let module = unsafe { device.load_foreign(&code)? };
    /// let mut graph = device.stream()?.capture(device.upload(&[1.0_f32, 2.0])?, |capture, numbers| {
    ///     let args = [RawArg::slice_mut(numbers), RawArg::value(2_u32), RawArg::value(2.0_f32)];
    ///     // SAFETY: it is `__global__ void scale(float *numbers, unsigned count, float by)`.
    ///     unsafe { capture.launch_foreign(&module, "scale", LaunchConfig::new(1, 32), 0, &args) }
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().to_vec()?, [2.0, 4.0]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`launch`](Self::launch) and [`ForeignModule::launch`].
    ///
    /// # Safety
    /// As for [`ForeignModule::launch`], for every launch of the graph and of its clones, which have other memory, whatever is in the memory then.
    #[doc(alias = "cudaGraphAddKernelNode", alias = "cuGraphAddKernelNode")]
    #[track_caller]
    pub unsafe fn launch_foreign(
        &self,
        module: &ForeignModule,
        name: &str,
        config: LaunchConfig,
        shared_bytes: u32,
        args: &[RawArg<'_>],
    ) -> Result<Node<ForeignKernel>> {
        // SAFETY: as the caller promises.
        unsafe { self.branch()?.launch_foreign(module, name, config, shared_bytes, args) }
    }

    /// Records a copy on the device, as [`Stream::copy`].
    ///
    /// # Errors
    /// As there; [`Error::NotInGraph`] for memory that the graph does not hold.
    #[doc(alias = "cudaGraphAddMemcpyNode", alias = "cuGraphAddMemcpyNode")]
    pub fn copy<T: DeviceCopy>(&self, from: &DeviceSlice<T>, to: &mut DeviceSlice<T>) -> Result<Node> {
        self.branch()?.node_of(|| self.stream.copy(from, to))
    }

    /// Records a copy of what is in a slice of the host now, as [`Stream::copy_to_device`].
    ///
    /// # Errors
    /// As there; [`Error::NotInGraph`] for memory that the graph does not hold.
    #[doc(alias = "cudaGraphAddMemcpyNode", alias = "cuGraphAddMemcpyNode")]
    pub fn copy_to_device<T: DeviceCopy>(&self, from: &[T], to: &mut DeviceSlice<T>) -> Result<Node> {
        self.branch()?.node_of(|| self.stream.copy_to_device(from, to))
    }

    /// Records a copy of what is in pinned memory when the graph is launched (`cudaGraphAddMemcpyNode`), to a slice of the same length.
    ///
    /// ```
    /// # use gpukernel::{Device, GraphPinned};
    /// # let device = Device::cpu();
    /// let input = GraphPinned::from(device.pinned::<f32>(3)?);
    /// let mut graph = device.stream()?.capture((input, device.zeroed(3)?), |capture, (input, x)| {
    ///     capture.copy_from_pinned(&input, x)
    /// })?;
    /// graph.memory_mut().0.write()?.fill(1.5);
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [1.5; 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::NotInGraph`] for memory that the graph does not hold; [`Error::WrongDevice`], also for memory that was pinned for
    /// the CPU device in a graph of a GPU.
    #[doc(alias = "cudaGraphAddMemcpyNode", alias = "cuGraphAddMemcpyNode")]
    pub fn copy_from_pinned<'p, T: DeviceCopy>(
        &self,
        from: impl Into<PinnedSlice<'p, T>>,
        to: &mut DeviceSlice<T>,
    ) -> Result<Node> {
        let (from, branch) = (from.into(), self.branch()?);
        same_length(from.len(), to.len())?;
        branch.node_of(|| branch.copy_from_pinned(&from, Region::of(to)))
    }

    /// Records a copy to pinned memory of the same length, which each launch of the graph makes (`cudaGraphAddMemcpyNode`).
    ///
    /// ```
    /// # use gpukernel::{Device, GraphPinned};
    /// # let device = Device::cpu();
    /// let output = GraphPinned::from(device.pinned::<f32>(3)?);
    /// let mut graph = device.stream()?.capture((device.filled(3, 1.5)?, output), |capture, (x, mut output)| {
    ///     capture.copy_to_pinned(x, &mut output)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.read()?, [1.5; 3]); // waits for the graph
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy_from_pinned`](Self::copy_from_pinned).
    #[doc(alias = "cudaGraphAddMemcpyNode", alias = "cuGraphAddMemcpyNode")]
    pub fn copy_to_pinned<T: DeviceCopy>(
        &self,
        from: &DeviceSlice<T>,
        to: &mut PinnedSliceMut<'_, T>,
    ) -> Result<Node> {
        let branch = self.branch()?;
        same_length(from.len(), to.len())?;
        branch.node_of(|| branch.copy_to_pinned(Region::of(from), to))
    }

    /// Records a copy of a view to another of the same extents on the device, as [`Stream::copy_view`] (`cudaGraphAddMemcpyNode` of a pitched copy). Work is ordered
    /// with it as if it used all that is between the first and the last row.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let memory = (device.upload(&[1, 2, 3, 4])?, device.zeroed::<i32>(9)?);
    /// let mut graph = device.stream()?.capture(memory, |capture, (small, large)| {
    ///     capture.copy_view(&small.view_2d(2)?, &mut large.view_2d_mut(3)?.part(1.., 1..)?)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [0, 0, 0, 0, 1, 2, 0, 3, 4]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there; [`Error::NotInGraph`] for memory that the graph does not hold.
    #[doc(alias = "cudaGraphAddMemcpyNode", alias = "cuGraphAddMemcpyNode", alias = "cudaMemcpy3DParms")]
    pub fn copy_view<T: DeviceCopy, F: RowsLayout, S: RowsLayout>(
        &self,
        from: &View<'_, T, F>,
        to: &mut ViewMut<'_, T, S>,
    ) -> Result<Node> {
        self.branch()?.node_of(|| self.stream.copy_view(from, to))
    }

    /// Records a copy of what is in a slice of the host now to a view, row after row, as [`Stream::copy_view_to_device`].
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut graph = device.stream()?.capture(device.zeroed::<i32>(4)?, |capture, matrix| {
    ///     capture.copy_view_to_device(&[1, 2], &mut matrix.view_2d_mut(2)?.column(1)?)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().to_vec()?, [0, 1, 0, 2]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there; [`Error::NotInGraph`] for memory that the graph does not hold.
    #[doc(alias = "cudaGraphAddMemcpyNode", alias = "cuGraphAddMemcpyNode", alias = "cudaMemcpy3DParms")]
    pub fn copy_view_to_device<T: DeviceCopy, S: RowsLayout>(
        &self,
        from: &[T],
        to: &mut ViewMut<'_, T, S>,
    ) -> Result<Node> {
        self.branch()?.node_of(|| self.stream.copy_view_to_device(from, to))
    }

    /// Records a copy of what is in pinned memory when the graph is launched, row after row, to a view of as many elements.
    ///
    /// ```
    /// # use gpukernel::{Device, GraphPinned};
    /// # let device = Device::cpu();
    /// let (matrix, column) = (device.zeroed::<i32>(4)?, GraphPinned::from(device.pinned::<i32>(2)?));
    /// let mut graph = device.stream()?.capture((matrix, column), |capture, (matrix, column)| {
    ///     capture.copy_view_from_pinned(&column, &mut matrix.view_2d_mut(2)?.column(0)?)
    /// })?;
    /// graph.memory_mut().1.write()?.copy_from_slice(&[3, 4]);
    /// graph.launch()?;
    /// assert_eq!(graph.memory().0.to_vec()?, [3, 0, 4, 0]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy_from_pinned`](Self::copy_from_pinned).
    #[doc(alias = "cudaGraphAddMemcpyNode", alias = "cuGraphAddMemcpyNode", alias = "cudaMemcpy3DParms")]
    pub fn copy_view_from_pinned<'p, T: DeviceCopy, S: RowsLayout>(
        &self,
        from: impl Into<PinnedSlice<'p, T>>,
        to: &mut ViewMut<'_, T, S>,
    ) -> Result<Node> {
        let (from, branch) = (from.into(), self.branch()?);
        let (len, to) = to.region();
        same_length(from.len(), len)?;
        branch.node_of(|| branch.copy_from_pinned(&from, to))
    }

    /// Records a copy of a view, row after row, to pinned memory of as many elements, which each launch of the graph makes.
    ///
    /// ```
    /// # use gpukernel::{Device, GraphPinned};
    /// # let device = Device::cpu();
    /// let (matrix, column) = (device.upload(&[1, 2, 3, 4])?, GraphPinned::from(device.pinned::<i32>(2)?));
    /// let mut graph = device.stream()?.capture((matrix, column), |capture, (matrix, mut column)| {
    ///     capture.copy_view_to_pinned(&matrix.view_2d(2)?.column(1)?, &mut column)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.read()?, [2, 4]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy_from_pinned`](Self::copy_from_pinned).
    #[doc(alias = "cudaGraphAddMemcpyNode", alias = "cuGraphAddMemcpyNode", alias = "cudaMemcpy3DParms")]
    pub fn copy_view_to_pinned<T: DeviceCopy, S: RowsLayout>(
        &self,
        from: &View<'_, T, S>,
        to: &mut PinnedSliceMut<'_, T>,
    ) -> Result<Node> {
        let branch = self.branch()?;
        let (len, from) = from.region();
        same_length(len, to.len())?;
        branch.node_of(|| branch.copy_to_pinned(from, to))
    }

    /// Records a fill, as [`Stream::fill`]: one node that sets memory if the elements are numbers (`cudaGraphAddMemsetNode`). For other elements, and 64-bit numbers
    /// whose halves differ, copies of the value.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut graph = device.stream()?.capture(device.zeroed::<f32>(4)?, |capture, x| capture.fill(&mut x[1..3], 1.5))?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().to_vec()?, [0.0, 1.5, 1.5, 0.0]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there; [`Error::NotInGraph`] for memory that the graph does not hold.
    #[doc(alias = "cudaGraphAddMemsetNode", alias = "cuGraphAddMemsetNode")]
    pub fn fill<T: DeviceCopy>(&self, slice: &mut DeviceSlice<T>, value: T) -> Result<Node> {
        self.branch()?.node_of(|| self.stream.fill(slice, value))
    }

    /// Records a call of a function of the host (`cudaGraphAddHostNode`), which each launch of the graph makes when the work before it is done; the work
    /// after it waits. As [`Stream::callback`], with the same restrictions. If the context is lost, it is not called.
    ///
    /// A panic is [`Error::CallbackPanicked`] of the next call that waits for the device.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
    ///
    /// let device = gpukernel::Device::cpu();
    /// let count = Arc::new(AtomicUsize::new(0));
    /// let counter = Arc::clone(&count);
    /// let mut graph = device.stream()?.capture(device.zeroed(3)?, |capture, x| {
    ///     capture.fill(x, 1)?;
    ///     capture.callback(move || {
    ///         counter.fetch_add(1, Ordering::Relaxed);
    ///     })
    /// })?;
    /// graph.launch()?;
    /// graph.launch()?;
    /// device.synchronize()?;
    /// assert_eq!(count.load(Ordering::Relaxed), 2);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CaptureEnded`]; [`Error::NotCapturable`] in a part that depends on a condition, [`Error::OuterCapture`] around it.
    #[doc(alias = "cudaGraphAddHostNode", alias = "cuGraphAddHostNode", alias = "cudaLaunchHostFunc")]
    pub fn callback(&self, code: impl Fn() + Send + Sync + 'static) -> Result<Node> {
        self.branch()?.call(Arc::new(code))
    }

    /// Begins a branch: its work comes after what was recorded here so far, and runs beside what is recorded here from now on, except
    /// that work which uses the same memory is ordered as it was recorded.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let memory = (device.zeroed(3)?, device.zeroed(3)?);
    /// let mut graph = device.stream()?.capture(memory, |capture, (x, y)| {
    ///     let other = capture.fork()?;
    ///     capture.fill(x, 1)?;
    ///     other.fill(y, 2)?;
    ///     capture.join(&other)?;
    ///     capture.copy(&x[..1], &mut y[..1])
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().1.to_vec()?, [1, 2, 2]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CaptureEnded`], [`Error::OuterCapture`].
    pub fn fork(&self) -> Result<Self> {
        Ok(self.with(self.branch()?.fork()?))
    }

    /// Lets what is recorded here from now on come after what was recorded in another branch so far.
    ///
    /// # Errors
    /// [`Error::CaptureEnded`], also if the other is of another capture; [`Error::OuterCapture`].
    pub fn join(&self, other: &Self) -> Result<()> {
        self.branch()?.join(other.branch()?)
    }

    /// Begins a branch whose first work comes after these nodes, and waits for nothing else (the dependencies of `cudaGraphAddKernelNode`): a node, or a
    /// tuple, array, slice or vector of nodes; `()` for none. Work that uses the same memory is ordered as it was recorded all the same.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let memory = (device.zeroed(3)?, device.zeroed(3)?, device.zeroed(3)?);
    /// let mut graph = device.stream()?.capture(memory, |capture, (x, y, z)| {
    ///     let a = capture.after(())?.fill(x, 1)?;
    ///     let b = capture.after(())?.fill(y, 2)?; // beside a
    ///     let c = capture.after((a, b))?.fill(z, 3)?;
    ///     capture.after(a)?.fill(&mut x[1..], 4)?; // beside b and c
    ///     Ok(c)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().0.to_vec()?, [1, 4, 4]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongNode`] for a node of another capture; [`Error::CaptureEnded`], [`Error::OuterCapture`].
    #[doc(
        alias = "cudaGraphAddDependencies",
        alias = "cudaGraphAddNode",
        alias = "cudaGraphAddKernelNode",
        alias = "cudaStreamUpdateCaptureDependencies"
    )]
    pub fn after(&self, nodes: impl Nodes) -> Result<Self> {
        let mut listed = Vec::new();
        nodes.list(&mut listed);
        Ok(self.with(self.branch()?.after(&listed)?))
    }

    /// The capture, in another branch.
    fn with(&self, branch: Branch) -> Self {
        Self { stream: Stream { branch: Some(branch), ..self.stream.clone() } }
    }

    /// Where it records.
    pub(super) fn branch(&self) -> Result<&Branch> {
        self.stream.branch.as_ref().ok_or(Error::CaptureEnded)
    }
}

impl Deref for Capture {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("device", &self.stream.device()).finish_non_exhaustive()
    }
}

impl Stream {
    /// A stream that records its work.
    pub(super) fn recording(&self, recording: Any<Recordings>) -> Self {
        Self { branch: Some(Branch::new(recording)), ..self.clone() }
    }
}
