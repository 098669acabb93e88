//! Work that is recorded in place of being queued, in branches.

use std::{
    any::TypeId,
    mem::MaybeUninit,
    panic::Location,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use gpu_std::{
    DeviceCopy,
    host::{Access, Kernel, PackedArgs},
};
use smallvec::{SmallVec, smallvec};

use super::{
    ForeignKernel,
    launch::{Arguments, Code, Launch},
    memory::Held,
    node::Node,
    pinned::{PinnedSlice, PinnedSliceMut, check_pinned},
    plan::{Operation, Place, Plan, Use, Uses},
};
use crate::{
    Device, DeviceSlice, Error, ForeignModule, LaunchConfig, Module, RawArg, Result, Stream,
    backend::{Any, Backend, OfDevice, Recordings, each},
    callback::Call,
    fill::Pattern,
    foreign,
    loaded::Entry,
    module::ThisRuntime,
    view::{Region, Rows},
};

/// Work that is being recorded.
pub(crate) struct Recording<B: Backend> {
    pub(super) device: &'static B,
    /// Tells it apart from all others of the process.
    pub(super) number: u64,
    /// The numbers of those that it is a part of.
    outer: Vec<u64>,
    /// What the graph holds.
    held: Vec<Held>,
    /// None when the capture has ended.
    state: Mutex<Option<State<B>>>,
}

struct State<B: Backend> {
    plan: Plan<B>,
    /// For each branch, the steps that its next step comes after.
    ends: Vec<SmallVec<[usize; 2]>>,
    /// The method whose closure describes a part now.
    part: Option<&'static str>,
}

impl<B: Backend> State<B> {
    /// Begins a branch after these steps; its number.
    fn begin(&mut self, end: SmallVec<[usize; 2]>) -> usize {
        self.ends.push(end);
        self.ends.len() - 1
    }
}

impl<B: Backend> Recording<B> {
    pub(super) fn new(device: &'static B, held: Vec<Held>) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let state = State { plan: Plan::new(), ends: vec![SmallVec::new()], part: None };
        Self { device, number, outer: Vec::new(), held, state: Mutex::new(Some(state)) }
    }

    /// A part of the same graph.
    pub(super) fn body(&self) -> Self {
        let outer = self.numbers().collect();
        Self { outer, ..Self::new(self.device, self.held.clone()) }
    }

    /// Its number, and those of what it is a part of.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.outer.iter().copied().chain([self.number])
    }

    /// Ends the capture when the result is dropped, at the latest.
    pub(super) fn ending(&self) -> Ending<'_, B> {
        Ending(self)
    }

    /// Ends the capture.
    pub(super) fn end(&self) -> Result<Plan<B>> {
        self.state().take().map(|state| state.plan.finish()).ok_or(Error::CaptureEnded)
    }

    fn state(&self) -> MutexGuard<'_, Option<State<B>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is recorded. All that records or orders work does so here, so that nothing of it can be done while a part is described: the step of the part
    /// is recorded when its closure has returned, and what is recorded before that comes before the part, whatever the program looks like.
    ///
    /// # Errors
    /// [`Error::CaptureEnded`], [`Error::OuterCapture`]
    fn change<R>(&self, doing: &dyn Fn() -> String, act: impl FnOnce(&mut State<B>) -> R) -> Result<R> {
        let mut state = self.state();
        match &mut *state {
            None => Err(Error::CaptureEnded),
            &mut Some(State { part: Some(method), .. }) => {
                Err(Error::OuterCapture { doing: doing(), method })
            }
            Some(state) => Ok(act(state)),
        }
    }

    pub(super) fn push(
        &self,
        branch: usize,
        doing: &dyn Fn() -> String,
        operation: Operation<B>,
        uses: Uses,
    ) -> Result<usize> {
        self.change(doing, |State { plan, ends, .. }| {
            let index = plan.push(operation, uses, ends[branch].clone());
            ends[branch] = smallvec![index];
            index
        })
    }

    /// The steps that the next step of a branch comes after.
    fn end_of(&self, branch: usize) -> Result<SmallVec<[usize; 2]>> {
        self.state().as_ref().map(|state| state.ends[branch].clone()).ok_or(Error::CaptureEnded)
    }

    /// Lets nothing be recorded until the result is dropped, because the closure of `method` describes a part.
    pub(super) fn begin_part(&self, method: &'static str) -> Result<PartBegun<'_, B>> {
        self.change(&|| format!("a call of `{method}`"), |state| state.part = Some(method))?;
        Ok(PartBegun(self))
    }
}

/// Ends a recording when it is dropped, if its code has failed or panicked: what is recorded later, on branches that were kept, would be lost.
pub(super) struct Ending<'r, B: Backend>(&'r Recording<B>);

impl<B: Backend> Drop for Ending<'_, B> {
    fn drop(&mut self) {
        let state = self.0.state().take();
        // Without the lock: functions of the program may be dropped with it.
        drop(state);
    }
}

/// A part of this recording is being described.
pub(super) struct PartBegun<'r, B: Backend>(&'r Recording<B>);

impl<B: Backend> Drop for PartBegun<'_, B> {
    fn drop(&mut self) {
        if let Some(state) = &mut *self.0.state() {
            state.part = None;
        }
    }
}

/// What operations use of the memory that the graph holds.
///
/// # Errors
/// [`Error::NotInGraph`] if it does not hold all of it.
fn check_held(held: &[Held], uses: impl Iterator<Item = Use>, doing: &dyn Fn() -> String) -> Result<Uses> {
    let mut checked = SmallVec::new();
    for used in uses.filter(|used| !used.piece.is_empty()) {
        if !held.iter().any(|held| held.piece.contains(used.piece)) {
            return Err(Error::NotInGraph { doing: doing() });
        }
        checked.push(used);
    }
    Ok(checked)
}

/// What a launch uses of the memory that the graph holds.
///
/// # Errors
/// [`Error::NotInGraph`]
pub(super) fn uses_of(held: &[Held], arguments: &Arguments) -> Result<Uses> {
    check_held(held, arguments.uses(), &|| arguments.doing())
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

    pub(super) fn recording(&self) -> &Any<Recordings> {
        &self.recording
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    pub(super) fn fork(&self) -> Result<Self> {
        let doing = || "a fork".to_owned();
        let index = each!(&self.recording, recording => recording.change(&doing, |state| {
            let end = state.ends[self.index].clone();
            state.begin(end)
        }))?;
        Ok(Self { index, ..self.clone() })
    }

    pub(super) fn join(&self, other: &Self) -> Result<()> {
        let doing = || "a join".to_owned();
        each!(&self.recording, recording => {
            match recording.device.own(&other.recording) {
                Some(others) if Arc::ptr_eq(recording, others) => recording.change(&doing, |state| {
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

    /// A branch that begins after these nodes.
    pub(super) fn after(&self, nodes: &[Node]) -> Result<Self> {
        let doing = || "work after a node".to_owned();
        let index = each!(&self.recording, recording => {
            if nodes.iter().any(|node| node.capture != recording.number) {
                return Err(Error::WrongNode { doing: doing() });
            }
            let mut end: SmallVec<[usize; 2]> = nodes.iter().map(|node| node.index).collect();
            end.sort_unstable();
            end.dedup();
            recording.change(&doing, |state| state.begin(end))?
        });
        Ok(Self { index, ..self.clone() })
    }

    /// The node of what `record` records here: the last step of it, or an empty one if there is none.
    pub(super) fn node_of(&self, record: impl FnOnce() -> Result<()>) -> Result<Node> {
        each!(&self.recording, recording => {
            let before = recording.end_of(self.index)?;
            record()?;
            let doing = || "a copy or fill of no elements".to_owned();
            let index = match &recording.end_of(self.index)?[..] {
                &[index] if before[..] != [index] => index,
                _ => recording.push(self.index, &doing, Operation::Empty, Uses::new())?,
            };
            Ok(Node::new(recording.number, index))
        })
    }

    /// Records a call of a function of the host.
    pub(super) fn call(&self, code: Call) -> Result<Node> {
        each!(&self.recording, recording => {
            if !recording.outer.is_empty() {
                let what = "a callback in a part of a graph that depends on a condition".to_owned();
                return Err(Error::NotCapturable { what });
            }
            let doing = || "a callback".to_owned();
            let index = recording.push(self.index, &doing, Operation::Call(code), Uses::new())?;
            Ok(Node::new(recording.number, index))
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
        let (mut packed, at) = (Box::new(PackedArgs::of(K::INFO)), Location::caller());
        K::pack::<ThisRuntime>(args, &mut packed);
        each!(&self.recording, recording => {
            let (loaded, entry) = module.entry(recording.device, TypeId::of::<K>(), K::INFO, &packed)?;
            let (code, arguments) = (Code::Image(Arc::clone(loaded)), Arguments::Kernel(K::INFO, packed));
            // SAFETY: the kernel packed the arguments, from borrows that last as long as this call.
            unsafe { self.add_launch(recording, code, entry, config, arguments, at) }
        })
    }

    /// Records a launch of a kernel that was made elsewhere.
    ///
    /// # Safety
    /// As for [`ForeignModule::launch`], for every launch of the graph.
    #[track_caller]
    pub(super) unsafe fn launch_foreign(
        &self,
        module: &ForeignModule,
        name: &str,
        config: LaunchConfig,
        shared_bytes: u32,
        args: &[RawArg<'_>],
    ) -> Result<Node<ForeignKernel>> {
        let at = Location::caller();
        // SAFETY: the graph holds their memory, or this fails.
        let args = args.iter().map(|arg| unsafe { arg.detached() }).collect();
        let arguments = Arguments::Foreign { name: name.into(), args, shared_bytes };
        each!(&self.recording, recording => {
            let loaded = recording.device.own(module.code()).ok_or_else(|| {
                let found = Device::of(recording.device);
                Stream::of_another(&found, module.device(), &|| arguments.doing())
            })?;
            let (code, entry) = (Code::Foreign(Arc::clone(loaded)), *foreign::entry(loaded, name)?);
            // SAFETY: as the caller promises.
            unsafe { self.add_launch(recording, code, entry, config, arguments, at) }
        })
    }

    /// # Safety
    /// As for [`Launch::new`], for every launch of the graph.
    unsafe fn add_launch<B: Backend, K>(
        &self,
        recording: &Recording<B>,
        code: Code<B>,
        entry: Entry<B>,
        config: LaunchConfig,
        arguments: Arguments,
        at: &'static Location<'static>,
    ) -> Result<Node<K>> {
        let uses = uses_of(&recording.held, &arguments)?;
        // SAFETY: as the caller promises.
        let launch = Arc::new(unsafe { Launch::new(code, entry, config, arguments, at)? });
        let doing = || launch.arguments().doing();
        let index = recording.push(self.index, &doing, Operation::Launch(Arc::clone(&launch)), uses)?;
        Ok(Node::new(recording.number, index))
    }

    /// Records a copy on the device, of rows that are as many and as long.
    pub(crate) fn copy(&self, from: Region, to: Region) -> Result<()> {
        let [from, to] = [(from, Access::Read), (to, Access::Write)].map(|(side, access)| {
            (Use::of_region(side, access), Place::Device(side.place.address), side.rows)
        });
        self.record_copy(from, to, "a copy on the device")
    }

    /// Records a copy of pinned memory, of as many elements.
    pub(super) fn copy_from_pinned<T: DeviceCopy>(
        &self,
        from: &PinnedSlice<'_, T>,
        to: Region,
    ) -> Result<()> {
        let (source, doing) = (from.used(), "a copy from pinned memory");
        self.check_pinned(from.device(), doing)?;
        let from = (source, Place::Host(source.start()), to.rows.packed());
        let to = (Use::of_region(to, Access::Write), Place::Device(to.place.address), to.rows);
        self.record_copy(from, to, doing)
    }

    /// Records a copy to pinned memory, of as many elements.
    pub(super) fn copy_to_pinned<T: DeviceCopy>(
        &self,
        from: Region,
        to: &PinnedSliceMut<'_, T>,
    ) -> Result<()> {
        let (target, doing) = (to.used(), "a copy to pinned memory");
        self.check_pinned(to.device(), doing)?;
        let to = (target, Place::Host(target.start()), from.rows.packed());
        let from = (Use::of_region(from, Access::Read), Place::Device(from.place.address), from.rows);
        self.record_copy(from, to, doing)
    }

    fn record_copy(
        &self,
        (read, from, from_rows): (Use, Place, Rows),
        (written, to, to_rows): (Use, Place, Rows),
        doing: &str,
    ) -> Result<()> {
        each!(&self.recording, recording => {
            let uses = recording.uses(&[read, written], doing)?;
            let operation = Operation::Copy { to: (to, to_rows), from: (from, from_rows) };
            self.record(recording, doing, operation, uses)
        })
    }

    fn check_pinned(&self, found: &Device, doing: &str) -> Result<()> {
        let expected = each!(&self.recording, recording => Device::of(recording.device));
        check_pinned(found, &expected, doing)
    }

    /// Records a copy of what is in a slice of the host now, of as many elements.
    pub(crate) fn upload<T: DeviceCopy>(&self, from: &[T], to: Region) -> Result<()> {
        // SAFETY: the elements are that many bytes, with values or without.
        let bytes =
            unsafe { std::slice::from_raw_parts(from.as_ptr().cast::<MaybeUninit<u8>>(), size_of_val(from)) };
        let (uses, to, rows) = ([Use::of_region(to, Access::Write)], to.place.address, to.rows);
        let doing = "a copy from the host";
        each!(&self.recording, recording => {
            let uses = recording.uses(&uses, doing)?;
            self.record(recording, doing, Operation::Upload { to, rows, from: bytes.into() }, uses)
        })
    }

    /// Records a fill of a slice with so many times a pattern.
    pub(crate) fn fill<T: DeviceCopy>(
        &self,
        slice: &DeviceSlice<T>,
        pattern: Pattern,
        count: usize,
    ) -> Result<()> {
        let (uses, to) = ([Use::of(slice, Access::Write)], slice.address());
        let doing = "a fill";
        each!(&self.recording, recording => {
            let uses = recording.uses(&uses, doing)?;
            self.record(recording, doing, Operation::Fill { to, pattern, count }, uses)
        })
    }

    /// Copies and fills of nothing leave no step.
    fn record<B: Backend>(
        &self,
        recording: &Recording<B>,
        doing: &str,
        operation: Operation<B>,
        uses: Uses,
    ) -> Result<()> {
        if uses.is_empty() {
            return Ok(());
        }
        recording.push(self.index, &|| doing.to_owned(), operation, uses).map(drop)
    }
}

impl<B: Backend> Recording<B> {
    /// What a copy uses, if the graph holds it and it is the device's.
    pub(super) fn uses(&self, uses: &[Use], doing: &str) -> Result<Uses> {
        let uses = check_held(&self.held, uses.iter().copied(), &|| doing.to_owned())?;
        for used in &uses {
            // SAFETY: the graph holds the memory.
            unsafe { used.check_device(self.device, false, &|| doing.to_owned())? };
        }
        Ok(uses)
    }
}

impl<B: Backend> OfDevice for Arc<Recording<B>> {
    type Device = B;

    fn device(&self) -> &'static B {
        self.device
    }
}
