//! Recording work in place of queuing it.

use std::{
    any::TypeId,
    fmt,
    marker::PhantomData,
    mem::MaybeUninit,
    ops::Deref,
    panic::Location,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use gpu_std::{
    DeviceCopy,
    host::{Access, Kernel, KernelInfo, PackedArgs, SafeKernel},
};
use smallvec::{SmallVec, smallvec};

use super::{
    memory::Piece,
    plan::{Launch, Operation, Plan, Use, Uses},
};
use crate::{
    DeviceSlice, Error, LaunchConfig, Module, Result, Stream,
    backend::{Any, Backend, OfDevice, Recordings, each},
    memory::AllocationId,
    module::ThisRuntime,
};

/// A stream whose work becomes part of a graph in place of being queued (`cudaStreamBeginCapture`): what [`Stream::capture`] gives to the
/// code that it calls.
///
/// Derefs to [`Stream`], so that it can be passed to functions that launch on a stream. Launches, fills and copies to and on the device
/// are recorded; what waits or allocates is an [`Error::NotCapturable`].
#[doc(alias = "cudaStreamBeginCapture", alias = "cudaStreamCaptureMode")]
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
    /// As for [`Module::launch_unsafe`], for every launch of the graph.
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
    /// [`Error::CaptureEnded`].
    pub fn fork(&self) -> Result<Self> {
        Ok(Self { stream: Stream { branch: Some(self.branch()?.fork()?), ..self.stream.clone() } })
    }

    /// Lets what is recorded here from now on come after what was recorded in another branch so far.
    ///
    /// # Errors
    /// [`Error::CaptureEnded`], also if the other is of another capture.
    pub fn join(&self, other: &Self) -> Result<()> {
        self.branch()?.join(other.branch()?)
    }

    /// Where it records.
    fn branch(&self) -> Result<&Branch> {
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

/// A launch of kernel `K` in a graph (`cudaGraphNode_t`).
#[doc(alias = "cudaGraphNode_t", alias = "CUgraphNode")]
pub struct Node<K> {
    /// The number of the capture.
    pub(super) capture: u64,
    pub(super) index: usize,
    kernel: PhantomData<fn() -> K>,
}

impl<K> Clone for Node<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Node<K> {}

impl<K> fmt::Debug for Node<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.index).finish()
    }
}

/// Work that is being recorded.
pub(crate) struct Recording<B: Backend> {
    device: &'static B,
    /// Tells it apart from all others of the process.
    pub(super) number: u64,
    /// What the graph holds.
    pieces: Vec<Piece>,
    /// None when the capture has ended.
    state: Mutex<Option<State<B>>>,
}

struct State<B: Backend> {
    plan: Plan<B>,
    /// For each branch, the steps that its next step comes after.
    ends: Vec<SmallVec<[usize; 2]>>,
}

impl<B: Backend> Recording<B> {
    pub(super) fn new(device: &'static B, pieces: Vec<Piece>) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let state = State { plan: Plan::new(), ends: vec![SmallVec::new()] };
        Self { device, number, pieces, state: Mutex::new(Some(state)) }
    }

    /// Ends the capture.
    pub(super) fn end(&self) -> Result<Plan<B>> {
        self.state().take().map(|state| state.plan.finish()).ok_or(Error::CaptureEnded)
    }

    fn state(&self) -> MutexGuard<'_, Option<State<B>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_state<R>(&self, act: impl FnOnce(&mut State<B>) -> R) -> Result<R> {
        self.state().as_mut().map(act).ok_or(Error::CaptureEnded)
    }

    fn push(&self, branch: usize, operation: Operation<B>, uses: Uses) -> Result<usize> {
        self.with_state(|State { plan, ends }| {
            let index = plan.push(operation, uses, ends[branch].clone());
            ends[branch] = smallvec![index];
            index
        })
    }
}

/// What operations use of the memory that the graph holds.
///
/// # Errors
/// [`Error::NotInGraph`] if it does not hold all of it.
fn held(pieces: &[Piece], uses: impl Iterator<Item = Use>, doing: &dyn Fn() -> String) -> Result<Uses> {
    let mut held = SmallVec::new();
    for used in uses.filter(|used| !used.piece.is_empty()) {
        if !pieces.iter().any(|piece| piece.contains(used.piece)) {
            return Err(Error::NotInGraph { doing: doing() });
        }
        held.push(used);
    }
    Ok(held)
}

/// What a launch uses of `pieces`.
///
/// # Errors
/// [`Error::NotInGraph`]
pub(super) fn uses_of(pieces: &[Piece], kernel: &KernelInfo, args: &PackedArgs) -> Result<Uses> {
    let uses = args.memory().iter().map(|(slice, access)| {
        let start = slice.address.addr();
        Use {
            piece: Piece { start, end: start + slice.len * slice.element_bytes },
            allocation: AllocationId::from_number(slice.allocation),
            access: *access,
        }
    });
    held(pieces, uses, &|| format!("a launch of `{}`", kernel.name))
}

/// Where a stream records its work.
#[derive(Clone)]
pub(crate) struct Branch {
    recording: Any<Recordings>,
    index: usize,
}

impl Branch {
    pub(super) fn new(recording: Any<Recordings>) -> Self {
        Self { recording, index: 0 }
    }

    fn fork(&self) -> Result<Self> {
        let index = each!(&self.recording, recording => recording.with_state(|state| {
            let end = state.ends[self.index].clone();
            state.ends.push(end);
            state.ends.len() - 1
        }))?;
        Ok(Self { index, ..self.clone() })
    }

    fn join(&self, other: &Self) -> Result<()> {
        each!(&self.recording, recording => {
            match recording.device.own(&other.recording) {
                Some(others) if Arc::ptr_eq(recording, others) => recording.with_state(|state| {
                    let end = state.ends[other.index].clone();
                    let mine = &mut state.ends[self.index];
                    mine.extend(end);
                    mine.sort_unstable();
                    mine.dedup();
                }),
                _ => Err(Error::CaptureEnded),
            }
        })
    }

    /// Records a launch.
    ///
    /// # Safety
    /// As for [`Module::launch_unsafe`], for every launch of the graph.
    #[track_caller]
    pub(crate) unsafe fn launch<K: Kernel>(
        &self,
        module: &Module,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<Node<K>> {
        let (mut packed, at) = (PackedArgs::of(K::INFO), Location::caller());
        K::pack::<ThisRuntime>(args, &mut packed);
        let (capture, index) = each!(&self.recording, recording => {
            let uses = uses_of(&recording.pieces, K::INFO, &packed)?;
            let code = module.entry(recording.device, TypeId::of::<K>(), K::INFO, &packed)?;
            // SAFETY: the kernel packed the arguments, from borrows that last as long as this call.
            let launch = unsafe { Launch::new(code, K::INFO, config, packed, at)? };
            (recording.number, recording.push(self.index, Operation::Launch(Box::new(launch)), uses)?)
        });
        Ok(Node { capture, index, kernel: PhantomData })
    }

    /// Records a copy on the device, of slices of the same length.
    pub(crate) fn copy<T: DeviceCopy>(&self, from: &DeviceSlice<T>, to: &DeviceSlice<T>) -> Result<()> {
        let uses = [used(from, Access::Read), used(to, Access::Write)];
        let bytes = to.len() * size_of::<T>();
        let (from, to) = (from.address(), to.address());
        each!(&self.recording, recording => {
            let uses = recording.uses(&uses, "a copy on the device")?;
            self.record(recording, Operation::Copy { to, from, bytes }, uses)
        })
    }

    /// Records a copy of what is in a slice of the host now.
    pub(crate) fn upload<T: DeviceCopy>(&self, from: &[T], to: &DeviceSlice<T>) -> Result<()> {
        // SAFETY: the elements are that many bytes, with values or without.
        let bytes =
            unsafe { std::slice::from_raw_parts(from.as_ptr().cast::<MaybeUninit<u8>>(), size_of_val(from)) };
        let (uses, to) = ([used(to, Access::Write)], to.address());
        each!(&self.recording, recording => {
            let uses = recording.uses(&uses, "a copy from the host")?;
            self.record(recording, Operation::Upload { to, from: bytes.into() }, uses)
        })
    }

    /// Copies of nothing leave no step.
    fn record<B: Backend>(
        &self,
        recording: &Recording<B>,
        operation: Operation<B>,
        uses: Uses,
    ) -> Result<()> {
        if uses.is_empty() { Ok(()) } else { recording.push(self.index, operation, uses).map(drop) }
    }
}

impl<B: Backend> Recording<B> {
    /// What a copy uses, if the graph holds it and it is the device's.
    fn uses(&self, uses: &[Use], doing: &str) -> Result<Uses> {
        let held = held(&self.pieces, uses.iter().copied(), &|| doing.to_owned())?;
        for used in &held {
            // SAFETY: the graph holds the memory.
            if let Some(allocation) = unsafe { used.allocation.get() } {
                allocation.on(self.device, &|| doing.to_owned())?;
            }
        }
        Ok(held)
    }
}

fn used<T: DeviceCopy>(slice: &DeviceSlice<T>, access: Access) -> Use {
    Use { piece: Piece::of(slice), allocation: slice.place().allocation, access }
}

impl<B: Backend> OfDevice for Arc<Recording<B>> {
    type Device = B;

    fn device(&self) -> &'static B {
        self.device
    }
}

impl Stream {
    /// A stream that records its work.
    pub(super) fn recording(&self, recording: Any<Recordings>) -> Self {
        Self { branch: Some(Branch::new(recording)), ..self.clone() }
    }
}
