//! Which streams used an allocation last, and what work on another stream has to wait for before it uses it, too: reads after writes, writes after both.
//!
//! Shared by all devices. Work has numbers, which grow along its stream.

use std::{
    cell::Cell,
    num::NonZeroU32,
    ptr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence},
    },
};

use gpu_std::host::Access;
use smallvec::SmallVec;

use crate::{Result, rare::RARE};

/// A stream, as far as it matters here.
pub(crate) trait Queue {
    /// Its number among all streams; `None` if all its work is noted with the memory locked.
    fn id(&self) -> Option<NonZeroU32>;

    /// Whether work of this number is known to be done, without asking a device.
    fn is_known_done(&self, work: u64) -> bool;
}

/// Memory whose uses are ordered.
pub(crate) trait Ordered {
    type Queue: Queue;

    fn users(&self) -> &Users<Self::Queue>;
}

/// Who used an allocation last. It is locked, but for work that a thread queues where nobody but the thread and the stream have used it.
// In this order, so that a launch needs one line of the cache.
#[repr(C)]
pub(crate) struct Users<Q> {
    /// The stream that wrote it last and the thread that queued that, if no other used it since.
    only: AtomicU64,
    /// For those that have been the only ones.
    notes: [Note; 3],
    usage: Mutex<Usage<Q>>,
}

/// What a thread notes without a lock.
#[derive(Default)]
struct Note {
    /// The thread and its stream, the first to use this, and the only one ever: it may be about to write here.
    of: AtomicU64,
    /// The number of its last work there.
    work: AtomicU64,
}

/// Nobody in particular.
const NOBODY: u64 = 0;

/// A stream and this thread.
#[inline]
fn here<Q: Queue>(queue: &Q) -> u64 {
    match (queue.id(), this_thread()) {
        (Some(queue), Some(thread)) => u64::from(queue.get()) << u32::BITS | u64::from(thread.get()),
        _ => NOBODY,
    }
}

/// The number of this thread among all that there ever are.
#[inline]
pub(crate) fn this_thread() -> Option<NonZeroU32> {
    static THREADS: Numbers = Numbers::new();
    thread_local!(static THREAD: Cell<Option<NonZeroU32>> = const { Cell::new(None) });
    THREAD.with(|thread| {
        if thread.get().is_none() {
            thread.set(THREADS.next());
        }
        thread.get()
    })
}

/// Gives each number once.
pub(crate) struct Numbers(AtomicU32);

impl Numbers {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// `None` when there are no more.
    #[cold]
    pub(crate) fn next(&self) -> Option<NonZeroU32> {
        let next = |given: u32| given.checked_add(1);
        self.0
            .try_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .ok()
            .and_then(|given| NonZeroU32::new(given + 1))
    }
}

impl<Q: Queue> Users<Q> {
    pub(crate) fn new(usage: Usage<Q>) -> Self {
        Self { only: AtomicU64::new(NOBODY), notes: Default::default(), usage: Mutex::new(usage) }
    }

    /// The last uses, to which nobody else adds as long as the result is there, but for uses at the same time as the caller's, which need no order with it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Usage<Q>> {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        let only = self.only.load(Ordering::Relaxed);
        if only != NOBODY {
            self.only.store(NOBODY, Ordering::Relaxed);
            // See `ordered`.
            fence(Ordering::SeqCst);
            usage.note_only(self.work_of(only));
        }
        usage
    }

    /// The last uses, at the end.
    pub(crate) fn get_mut(&mut self) -> &mut Usage<Q> {
        let only = *self.only.get_mut();
        let work = self.work_of(only);
        let usage = self.usage.get_mut().unwrap_or_else(PoisonError::into_inner);
        if only != NOBODY {
            usage.note_only(work);
        }
        usage
    }

    #[inline]
    fn note_of(&self, here: u64) -> Option<&Note> {
        self.notes.iter().find(|note| note.of.load(Ordering::Relaxed) == here)
    }

    fn work_of(&self, only: u64) -> u64 {
        self.note_of(only).map_or(0, |note| note.work.load(Ordering::Relaxed))
    }

    /// Lets this thread note work without a lock, if there is a place for it. It holds the lock.
    fn are_only(&self, here: u64, work: u64) {
        if let Some(note) = self.note_of(here).or_else(|| self.note_of(NOBODY)) {
            note.work.store(work, Ordering::Relaxed);
            note.of.store(here, Ordering::Relaxed);
            self.only.store(here, Ordering::Relaxed);
        }
    }
}

impl<Q: Queue> Default for Users<Q> {
    fn default() -> Self {
        Self::new(Usage::default())
    }
}

/// The streams that used an allocation last, each with the number of that work there.
pub(crate) struct Usage<Q> {
    /// The stream that wrote it last.
    writer: Option<(Arc<Q>, u64)>,
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
        Self { writer: None, readers, unordered, graph: None }
    }
}

/// The number of work of which there may be more at any time, without a note: that of a graph.
const EVER_MORE: u64 = u64::MAX;

/// Whether all memory of a graph was used by nobody else since the graph's last launch. The next one on the same stream is then in order, and finds
/// notes of itself already: it locks nothing ([`ordered_again`]).
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

/// Queues the launch of a graph whose memory was [settled](Settled) when somebody looked, on the stream of its last launch. `late` gives the memory and the
/// number of the launch, if others use some of it by now.
#[inline(always)]
pub(crate) fn ordered_again<'u, M: Ordered + 'u>(
    queue: &Arc<M::Queue>,
    graph: &Settled,
    enqueue: impl FnOnce() -> Result<()>,
    late: impl FnOnce() -> Result<(Uses<&'u Arc<M>>, u64)>,
) -> Result<()> {
    enqueue()?;
    // Who uses the memory unsettles the graph before such a fence, and waits for the graph's stream behind it: either the other waits for this launch, or it is
    // seen here.
    fence(Ordering::SeqCst);
    if !graph.is_settled() {
        // Its use is at the same time, as in `ordered`, and may have taken the graph's note away.
        let (uses, work) = late()?;
        note_late(queue, &uses, work);
    }
    Ok(())
}

impl<Q: Queue> Usage<Q> {
    /// Notes the last work of the stream that wrote it last.
    fn note_only(&mut self, work: u64) {
        if let Some((_, last)) = &mut self.writer {
            *last = work;
        }
    }

    /// Whether this stream wrote it last, and no other used it since, nor a graph.
    fn is_only_of(&self, queue: &Arc<Q>) -> bool {
        let is_writer = self.writer.as_ref().is_some_and(|(writer, _)| Arc::ptr_eq(writer, queue));
        is_writer && self.readers.is_empty() && self.unordered.is_empty() && self.graph.is_none()
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
                    // A graph that is launched meanwhile notes that late.
                    Some((known, last)) if Arc::ptr_eq(known, queue) => *last = work,
                    writer => *writer = Some((Arc::clone(queue), work)),
                }
            }
            // Who waits for its write waits for the read, too.
            Access::Read if self.readers.is_empty() && self.writer.as_mut().is_some_and(same) => {}
            Access::Read if self.readers.iter_mut().any(same) => {}
            Access::Read => self.readers.push((Arc::clone(queue), work)),
        }
    }

    /// Notes the launch of a graph, which is told when others use the memory.
    fn note_graph(&mut self, queue: &Arc<Q>, access: Access, graph: &Settled) {
        self.note(queue, access, EVER_MORE);
        self.graph = Some(graph.clone());
    }

    /// Tells the graph that used it last that others do now, before they look what to wait for: see [`ordered_again`].
    fn unsettle(&mut self) {
        if let Some(graph) = self.graph.take() {
            graph.unsettle();
            fence(Ordering::SeqCst);
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
    // Nearly all work uses what was used by nothing but its stream and its thread.
    let here = here(&**queue);
    let are_only = || uses.iter().all(|(memory, _)| memory.users().only.load(Ordering::Relaxed) == here);
    if here == NOBODY || !matches!(order, Order::Uses) || !are_only() {
        return ordered_and_noted(queue, here, uses, order, wait, enqueue);
    }
    let (queued, work) = enqueue(W::default())?;
    for (memory, _) in uses {
        if let Some(note) = memory.users().note_of(here) {
            note.work.store(work, Ordering::Relaxed);
        }
    }
    // Who locks the memory writes `only` before such a fence, and reads the note behind it: either the other thread sees this work, or it is seen here.
    fence(Ordering::SeqCst);
    if !are_only() {
        // Its use is at the same time, by borrows of another part or of what both only read, and needs no order with this one. Those that come after both do.
        note_late(queue, uses, work);
    }
    Ok(queued)
}

#[inline(never)]
fn ordered_and_noted<M: Ordered, W: Default, R>(
    queue: &Arc<M::Queue>,
    here: u64,
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
    let mut usages: Uses<MutexGuard<'_, Usage<M::Queue>>> =
        uses.iter().map(|(memory, access)| (memory.users().lock(), *access)).collect();
    // A launch of a graph that does not see this is queued by now, and waited for.
    usages.iter_mut().for_each(|(usage, _)| usage.unsettle());
    let waits = match order {
        Order::Uses | Order::Graph(_) if !usages.iter().all(|(usage, _)| usage.is_of(queue)) => {
            wait(&usages)?
        }
        _ => W::default(),
    };
    let (queued, work) = enqueue(waits)?;
    for ((memory, _), (usage, access)) in uses.iter().zip(&mut usages) {
        match order {
            Order::Uses => usage.note(queue, *access, work),
            Order::Graph(graph) => usage.note_graph(queue, *access, graph),
            Order::Nothing => usage.note_unordered(queue, work),
        }
        if here != NOBODY && usage.is_only_of(queue) {
            memory.users().are_only(here, work);
        }
    }
    if let Order::Graph(Settled(is_settled)) = order {
        // Before anybody else can use any of it.
        is_settled.store(true, Ordering::Release);
    }
    Ok(queued)
}

#[cold]
fn note_late<M: Ordered>(queue: &Arc<M::Queue>, uses: &[(&Arc<M>, Access)], work: u64) {
    uses.iter().for_each(|(memory, _)| memory.users().lock().note_unordered(queue, work));
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

#[cfg(test)]
mod tests {
    use std::{iter, thread};

    use super::*;

    /// A stream that numbers its work, and never does it.
    struct Numbered {
        id: Option<NonZeroU32>,
        queued: AtomicU64,
    }

    impl Numbered {
        fn new() -> Arc<Self> {
            static IDS: Numbers = Numbers::new();
            Arc::new(Self { id: IDS.next(), queued: AtomicU64::new(0) })
        }

        fn queued(&self) -> u64 {
            self.queued.load(Ordering::Acquire)
        }
    }

    impl Queue for Numbered {
        fn id(&self) -> Option<NonZeroU32> {
            self.id
        }

        fn is_known_done(&self, _: u64) -> bool {
            false
        }
    }

    #[derive(Default)]
    struct Memory(Users<Numbered>);

    impl Ordered for Memory {
        type Queue = Numbered;

        fn users(&self) -> &Users<Numbered> {
            &self.0
        }
    }

    /// Streams with the numbers of their work.
    type Work = Vec<(Arc<Numbered>, u64)>;

    /// Queues a use of the memory; returns its number, and the streams that it waits for with their numbers of then.
    fn queue(stream: &Arc<Numbered>, memory: &[(&Arc<Memory>, Access)]) -> (u64, Work) {
        queue_while(stream, memory, || {}, || {})
    }

    /// The same, where something else happens before it has its number, and behind that.
    fn queue_while(
        stream: &Arc<Numbered>,
        memory: &[(&Arc<Memory>, Access)],
        before: impl FnOnce(),
        behind: impl FnOnce(),
    ) -> (u64, Work) {
        let wait = |locked: &Locked<'_, Numbered>| {
            let conflicts = locked.iter().flat_map(|(usage, access)| usage.conflicts(stream, *access));
            Ok(conflicts.map(|(other, _)| (Arc::clone(other), other.queued())).collect())
        };
        let enqueue = |waits| {
            before();
            let work = stream.queued.fetch_add(1, Ordering::Release) + 1;
            behind();
            Ok(((work, waits), work))
        };
        ordered(stream, memory, Order::Uses, wait, enqueue).expect("nothing fails")
    }

    fn noted(memory: &Memory) -> Work {
        memory.users().lock().users(Access::Write).map(|(user, work)| (Arc::clone(user), work)).collect()
    }

    fn covers(notes: &[(Arc<Numbered>, u64)], stream: &Arc<Numbered>, work: u64) -> bool {
        notes.iter().any(|(user, last)| Arc::ptr_eq(user, stream) && *last >= work)
    }

    #[test]
    fn work_without_a_lock_is_noted() {
        let (one, two, memory) = (Numbered::new(), Numbered::new(), Arc::<Memory>::default());
        let write = [(&memory, Access::Write)];
        for _ in 0..3 {
            let (_, waits) = queue(&one, &write);
            assert!(waits.is_empty());
        }
        assert_ne!(memory.users().only.load(Ordering::Relaxed), NOBODY, "this takes the lock again");
        // Work without the memory counts for nothing.
        one.queued.fetch_add(5, Ordering::Release);
        assert!(matches!(&noted(&memory)[..], [(user, 3)] if Arc::ptr_eq(user, &one)));
        let (_, waits) = queue(&two, &[(&memory, Access::Read)]);
        assert!(covers(&waits, &one, 3));
        let notes = noted(&memory);
        assert!(covers(&notes, &one, 3) && covers(&notes, &two, 1));
        // More streams and threads than have a note of their own.
        let streams: Vec<_> = iter::repeat_with(Numbered::new).take(6).collect();
        for (i, stream) in streams.iter().enumerate() {
            let use_twice = || (queue(stream, &write), queue(stream, &write)).1;
            let (work, _) = match i % 2 {
                0 => use_twice(),
                _ => thread::scope(|scope| scope.spawn(use_twice).join().expect("no panic")),
            };
            assert!(
                matches!(&noted(&memory)[..], [(user, last)] if Arc::ptr_eq(user, stream) && *last == work)
            );
        }
    }

    /// Queues the first launch of a graph.
    fn launch(stream: &Arc<Numbered>, memory: &Arc<Memory>, access: Access, graph: &Settled) {
        let enqueue = |()| Ok(((), stream.queued.fetch_add(1, Ordering::Release) + 1));
        ordered(stream, &[(memory, access)], Order::Graph(graph), |_| Ok(()), enqueue)
            .expect("nothing fails");
    }

    /// Queues a launch of a graph that is settled, where something else happens before it is queued and behind that; returns its number.
    fn launch_while(
        stream: &Arc<Numbered>,
        memory: &Arc<Memory>,
        access: Access,
        graph: &Settled,
        before: impl FnOnce(),
        behind: impl FnOnce(),
    ) -> u64 {
        assert!(graph.is_settled());
        let mut work = 0;
        let enqueue = || {
            before();
            work = stream.queued.fetch_add(1, Ordering::Release) + 1;
            behind();
            Ok(())
        };
        let late = || Ok((Uses::from_slice(&[(memory, access)]), stream.queued()));
        ordered_again(stream, graph, enqueue, late).expect("nothing fails");
        work
    }

    /// The same of the launch of a graph that notes nothing as long as nobody else uses the memory.
    #[test]
    fn launches_of_settled_graphs_at_the_same_time_are_noted() {
        for (access, other_access) in iter::zip(
            [Access::Write, Access::Write, Access::Read, Access::Read],
            [Access::Write, Access::Read].into_iter().cycle(),
        ) {
            for is_same_stream in [false, true] {
                for is_before in [true, false] {
                    let (one, memory, graph) =
                        (Numbered::new(), Arc::<Memory>::default(), Settled::default());
                    let two = if is_same_stream { Arc::clone(&one) } else { Numbered::new() };
                    launch(&one, &memory, access, &graph);
                    let launch_again = || launch_while(&one, &memory, access, &graph, || {}, || {});
                    assert_eq!((launch_again(), graph.is_settled()), (2, true));
                    let mut other = (0, Vec::new());
                    let mut use_elsewhere = || {
                        // From where it looks what to wait for, the graph is told.
                        let told = || assert!(!graph.is_settled());
                        let uses = || queue_while(&two, &[(&memory, other_access)], told, || {});
                        other = thread::scope(|scope| scope.spawn(uses).join().expect("no panic"));
                    };
                    let work = match is_before {
                        true => launch_while(&one, &memory, access, &graph, &mut use_elsewhere, || {}),
                        false => launch_while(&one, &memory, access, &graph, || {}, &mut use_elsewhere),
                    };
                    assert!(!graph.is_settled());
                    let notes = noted(&memory);
                    assert!(covers(&notes, &two, other.0));
                    assert!(covers(&notes, &one, work) || covers(&other.1, &one, work));
                    let (_, waits) = queue(&Numbered::new(), &[(&memory, Access::Write)]);
                    assert!(
                        covers(&waits, &two, other.0)
                            && (covers(&waits, &one, work) || covers(&other.1, &one, work))
                    );
                    // Launched once more, it is settled again.
                    launch(&one, &memory, access, &graph);
                    assert!(graph.is_settled());
                }
            }
        }
    }

    /// Of two uses at the same time, each is noted for those that come after both, or the other has waited for it.
    #[test]
    fn uses_at_the_same_time_are_both_noted() {
        for (access, other_access) in iter::zip(
            [Access::Write, Access::Write, Access::Read, Access::Read],
            [Access::Write, Access::Read].into_iter().cycle(),
        ) {
            for other_uses in 1..4 {
                for is_before in [true, false] {
                    let (one, two, memory) = (Numbered::new(), Numbered::new(), Arc::<Memory>::default());
                    let mut other = (0, Vec::new());
                    let mut use_elsewhere = || {
                        let uses =
                            || (0..other_uses).map(|_| queue(&two, &[(&memory, other_access)])).collect();
                        let mut uses: Vec<_> =
                            thread::scope(|scope| scope.spawn(uses).join().expect("no panic"));
                        let (last, _) = uses.pop().expect("a use");
                        other = (last, uses.into_iter().next().map_or(Vec::new(), |(_, waits)| waits));
                    };
                    queue(&one, &[(&memory, Access::Write)]);
                    queue(&one, &[(&memory, Access::Write)]);
                    let (work, waits) = match is_before {
                        true => queue_while(&one, &[(&memory, access)], &mut use_elsewhere, || {}),
                        false => queue_while(&one, &[(&memory, access)], || {}, &mut use_elsewhere),
                    };
                    assert!(waits.is_empty(), "it was the only one before");
                    let notes = noted(&memory);
                    assert!(covers(&notes, &two, other.0));
                    assert!(covers(&notes, &one, work) || covers(&other.1, &one, work));
                    // And both are waited for by who comes then.
                    let (_, waits) = queue(&Numbered::new(), &[(&memory, Access::Write)]);
                    assert!(
                        covers(&waits, &two, other.0)
                            && (covers(&waits, &one, work) || covers(&other.1, &one, work))
                    );
                }
            }
        }
    }
}
