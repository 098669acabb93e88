//! Which streams used an allocation last, and what work on another stream has to wait for before it uses it, too: reads after writes, writes after both.
//!
//! Shared by all devices. Work has numbers, which grow along its stream.

use std::{
    cell::Cell,
    ptr,
    sync::{
        Arc, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use gpu_std::host::Access;
use smallvec::SmallVec;

use crate::{Result, rare::RARE};

/// A stream, as far as it matters here.
pub(crate) trait Queue {
    /// Whether work of this number is known to be done, without asking a device.
    fn is_known_done(&self, work: u64) -> bool;
}

/// Memory whose uses are ordered.
pub(crate) trait Ordered {
    type Queue: Queue;

    /// Who used it last, which nobody else changes as long as the result is there.
    fn usage(&self) -> MutexGuard<'_, Usage<Self::Queue>>;
}

/// The streams that used an allocation last, each with the number of that work there.
// In this order, so that a launch needs one line of the cache.
#[repr(C)]
pub(crate) struct Usage<Q> {
    /// The stream that wrote it last.
    writer: Option<(Arc<Q>, u64)>,
    /// Whether there is anything in the fields behind this.
    has_others: bool,
    /// The streams that read it since.
    readers: SmallVec<[(Arc<Q>, u64); 2]>,
    /// The streams that used it since without having waited for others.
    unordered: SmallVec<[(Arc<Q>, u64); 1]>,
    /// Of the graph that used it last.
    graph: Option<Settled>,
}

impl<Q> Default for Usage<Q> {
    fn default() -> Self {
        let (readers, unordered) = (SmallVec::new(), SmallVec::new());
        Self { writer: None, has_others: false, readers, unordered, graph: None }
    }
}

/// The number of work of which there may be more at any time, without a note: that of a graph.
const EVER_MORE: u64 = u64::MAX;

/// Whether all memory of a graph was used by nobody else since the graph's last launch. The next one on the same stream is then in order, and finds
/// notes of itself already: it locks nothing.
#[derive(Clone, Default)]
pub(crate) struct Settled(Arc<AtomicBool>);

impl Settled {
    pub(crate) fn is_settled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn unsettle(&self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<Q: Queue> Usage<Q> {
    /// The number of its last work, if this stream wrote it last and is the only one that used it since, outside of a graph.
    #[inline]
    fn only_work(&mut self, queue: &Arc<Q>) -> Option<&mut u64> {
        match &mut self.writer {
            Some((writer, work)) if !self.has_others && Arc::ptr_eq(writer, queue) => Some(work),
            _ => None,
        }
    }

    /// Takes over what is noted of others.
    fn noted(&mut self) {
        self.has_others = !self.readers.is_empty() || !self.unordered.is_empty() || self.graph.is_some();
    }

    /// Whether no other stream used it since it waited for all of them.
    fn is_of(&self, queue: &Arc<Q>) -> bool {
        let is_same = |(user, _): &(Arc<Q>, u64)| Arc::ptr_eq(user, queue);
        self.writer.iter().all(is_same)
            && self.readers.iter().all(is_same)
            && self.unordered.iter().all(is_same)
    }

    /// The streams that writes wait for; reads, for those but the ones that only read. Not for work that is known to be done.
    pub(crate) fn users(&self, access: Access) -> impl Iterator<Item = (&Arc<Q>, u64)> {
        let readers = self.readers.iter().filter(move |_| access == Access::Write);
        let users = self.writer.iter().chain(readers).chain(&self.unordered);
        users.filter(|(user, work)| !user.is_known_done(*work)).map(|(user, work)| (user, *work))
    }

    /// The streams that `queue` must wait for before this access, with the number of their work.
    pub(crate) fn conflicts<'u>(
        &'u self,
        queue: &'u Arc<Q>,
        access: Access,
    ) -> impl Iterator<Item = (&'u Arc<Q>, u64)> {
        // A stream that read since the last write has waited for that write already.
        let ordered = self.readers.iter().any(|(reader, _)| Arc::ptr_eq(reader, queue));
        let writer = self.writer.iter().filter(move |_| !ordered);
        let readers = self.readers.iter().filter(move |_| access == Access::Write);
        let others = writer.chain(readers).chain(&self.unordered);
        let others = others.filter(move |(other, _)| !Arc::ptr_eq(other, queue));
        others.filter(|(other, work)| !other.is_known_done(*work)).map(|(other, work)| (other, *work))
    }

    pub(crate) fn note(&mut self, queue: &Arc<Q>, access: Access, work: u64) {
        self.unsettle();
        let same = |(known, last): &mut (Arc<Q>, u64)| {
            let is_same = Arc::ptr_eq(known, queue);
            if is_same {
                // A graph that only reads this, too, may have been launched again meanwhile.
                *last = work.max(*last);
            }
            is_same
        };
        match access {
            Access::Write => {
                self.readers.clear();
                self.unordered.clear();
                match &mut self.writer {
                    // No graph uses it meanwhile.
                    Some((known, last)) if Arc::ptr_eq(known, queue) => *last = work,
                    writer => *writer = Some((Arc::clone(queue), work)),
                }
            }
            // Who waits for its write waits for the read, too.
            Access::Read if self.readers.is_empty() && self.writer.as_mut().is_some_and(same) => {}
            Access::Read if self.readers.iter_mut().any(same) => {}
            Access::Read => self.readers.push((Arc::clone(queue), work)),
        }
        self.noted();
    }

    /// Notes the launch of a graph, which is told when others use the memory.
    fn note_graph(&mut self, queue: &Arc<Q>, access: Access, graph: &Settled) {
        self.note(queue, access, EVER_MORE);
        self.graph = Some(graph.clone());
        self.noted();
    }

    /// Tells the graph that used it last that others do now.
    fn unsettle(&mut self) {
        if let Some(graph) = self.graph.take() {
            graph.unsettle();
        }
    }

    /// Notes work that did not wait for others.
    #[cold]
    fn note_unordered(&mut self, queue: &Arc<Q>, work: u64) {
        self.unsettle();
        match self.unordered.iter_mut().find(|(known, _)| Arc::ptr_eq(known, queue)) {
            Some((_, last)) => *last = work,
            None => self.unordered.push((Arc::clone(queue), work)),
        }
        self.noted();
    }

    /// Takes all streams out, when nobody uses the memory any more.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (Arc<Q>, u64)> {
        self.readers.drain(..).chain(self.writer.take()).chain(self.unordered.drain(..))
    }
}

thread_local! {
    /// The device whose work this thread does not order.
    static UNORDERED_HERE: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// Runs `code`, of which the work that this thread queues on the device waits for no other stream.
///
/// # Safety
/// The caller orders it with other work on the same memory.
pub(crate) unsafe fn unordered<B, R>(device: &'static B, code: impl FnOnce() -> R) -> R {
    /// Orders work again as before, also if the code panics.
    struct Again(*const ());
    impl Drop for Again {
        fn drop(&mut self) {
            UNORDERED_HERE.set(self.0);
            RARE.unordered.fetch_sub(1, Ordering::Relaxed);
        }
    }
    RARE.unordered.fetch_add(1, Ordering::Relaxed);
    let _again = Again(UNORDERED_HERE.replace(ptr::from_ref(device).cast()));
    code()
}

/// Whether this thread orders no work of the device.
#[inline]
pub(crate) fn is_unordered<B>(device: &'static B) -> bool {
    // At the end of a thread nothing is left of its memory, and no call of `unordered`.
    RARE.unordered.load(Ordering::Relaxed) != 0
        && UNORDERED_HERE.try_with(|here| ptr::eq(here.get(), ptr::from_ref(device).cast())).unwrap_or(false)
}

/// What an operation does to memory. Twelve allocations of one operation need none of the host's.
pub(crate) type Uses<T> = SmallVec<[(T, Access); 12]>;

/// Memory that nobody else queues work for meanwhile, and what is done to it.
pub(crate) type Locked<'u, Q> = [(MutexGuard<'u, Usage<Q>>, Access)];

/// What work is ordered by.
pub(crate) enum Order<'g> {
    /// The memory that it uses.
    Uses,
    /// The same, of the launch of a graph, which is [settled](Settled) afterwards.
    Graph(&'g Settled),
    /// Nothing: see [`unordered`].
    Nothing,
}

/// Queues work after conflicting work on other streams. `wait` says what is to be waited for, which `enqueue` gets, and `enqueue` the number of the work.
// Always inlined: each launch comes here, and its device knows most of what is asked.
#[inline(always)]
pub(crate) fn ordered<M: Ordered, W: Default, R>(
    queue: &Arc<M::Queue>,
    uses: &[(&Arc<M>, Access)],
    order: Order<'_>,
    wait: impl FnOnce(&Locked<'_, M::Queue>) -> Result<W>,
    enqueue: impl FnOnce(W) -> Result<(R, u64)>,
) -> Result<R> {
    // One entry per allocation, and locked in the order of their addresses, so that two threads never wait for each
    // other. They stay locked until the work is queued: a thread that comes between would wait for too little.
    let sorted;
    let uses = match uses.is_sorted_by(|(a, _), (b, _)| Arc::as_ptr(a) < Arc::as_ptr(b)) {
        true => uses,
        false => {
            sorted = once_each(uses);
            &sorted
        }
    };
    let mut usages: Uses<MutexGuard<'_, Usage<M::Queue>>> = SmallVec::new();
    // Nearly all work uses what was used by nothing but its stream.
    let mut is_only = matches!(order, Order::Uses);
    for (memory, access) in uses {
        let mut usage = memory.usage();
        is_only = is_only && usage.only_work(queue).is_some();
        usages.push((usage, *access));
    }
    let waits = match order {
        Order::Uses | Order::Graph(_) if !is_only && !usages.iter().all(|(usage, _)| usage.is_of(queue)) => {
            wait(&usages)?
        }
        _ => W::default(),
    };
    let (queued, work) = enqueue(waits)?;
    match is_only {
        true => {
            usages.iter_mut().filter_map(|(usage, _)| usage.only_work(queue)).for_each(|last| *last = work)
        }
        false => note_all(queue, &mut usages, work, &order),
    }
    Ok(queued)
}

/// Notes work that has waited for what it conflicts with, if it was to.
#[inline(never)]
fn note_all<Q: Queue>(
    queue: &Arc<Q>,
    usages: &mut [(MutexGuard<'_, Usage<Q>>, Access)],
    work: u64,
    order: &Order<'_>,
) {
    for (usage, access) in usages {
        match order {
            Order::Uses => usage.note(queue, *access, work),
            Order::Graph(graph) => usage.note_graph(queue, *access, graph),
            Order::Nothing => usage.note_unordered(queue, work),
        }
    }
    if let Order::Graph(Settled(is_settled)) = order {
        // Before anybody else can use any of it.
        is_settled.store(true, Ordering::Release);
    }
}

/// Each allocation once, written if any of its uses writes, in the order of their addresses.
#[inline(never)]
fn once_each<'m, M>(uses: &[(&'m Arc<M>, Access)]) -> Uses<&'m Arc<M>> {
    let mut uses: Uses<&Arc<M>> = SmallVec::from_slice(uses);
    // Equal keys are equal entries, so that the order of a stable sort, which allocates, is not needed.
    uses.sort_unstable_by_key(|(memory, access)| (Arc::as_ptr(memory).addr(), *access != Access::Write));
    uses.dedup_by_key(|(memory, _)| Arc::as_ptr(memory).addr());
    uses
}
