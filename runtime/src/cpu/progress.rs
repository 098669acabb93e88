//! Who goes on: which of the threads of a block that wait have what they wait for.

use gpu_std::host::{Barrier, Meeting, Votes};

use super::wait::{Answer, Blocks, LANES, Wait, Waiting};
use crate::error::BarrierWait;

/// Two threads that wait for each other at different places.
#[derive(Debug)]
pub(super) struct Stuck {
    pub(super) first: BarrierWait,
    pub(super) second: BarrierWait,
}

/// What lanes give to each other.
#[derive(Default)]
pub(super) struct Exchange {
    values: Vec<u8>,
}

/// What the threads of a block look like to this module.
pub(super) trait Waits {
    fn rank(&self) -> u32;
    fn wait(&self) -> Wait;
    fn waits_on(&self) -> bool;
    fn answer(&mut self, answer: Answer);
    fn describe(&self) -> BarrierWait;
}

impl Waits for Waiting {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn wait(&self) -> Wait {
        self.wait
    }

    fn waits_on(&self) -> bool {
        matches!(self.answer, Answer::NotYet)
    }

    fn answer(&mut self, answer: Answer) {
        self.answer = answer;
    }

    fn describe(&self) -> BarrierWait {
        self.wait.of(self.thread)
    }
}

/// What becomes of the threads of a block that all wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// At least one has an answer and goes on, before this is asked again.
    Some,
    /// They wait for other blocks, all at one place.
    Blocks(Blocks),
}

/// Gives answers to threads, which are all of the block that have not ended, by rank.
///
/// # Errors
/// If none can go on.
pub(super) fn release<W: Waits>(waiting: &mut [W], exchange: &mut Exchange) -> Result<Next, Stuck> {
    let Some(votes) = same_barrier(waiting) else { return release_warps(waiting, exchange) };
    waiting.iter_mut().for_each(|thread| thread.answer(Answer::Votes(votes)));
    Ok(Next::Some)
}

/// The votes, if all wait at the same barrier.
fn same_barrier<W: Waits>(waiting: &[W]) -> Option<Votes> {
    let barrier_of = |wait| match wait {
        Wait::Barrier { barrier, vote } => Some((barrier, vote)),
        _ => None,
    };
    let (first, _): (Barrier, bool) = barrier_of(waiting.first()?.wait())?;
    let mut yes = 0;
    for thread in waiting {
        let (barrier, vote) = barrier_of(thread.wait())?;
        // Places are compared by what they say: the same line can have several addresses.
        if barrier != first {
            return None;
        }
        yes += u32::from(vote);
    }
    Some(Votes { yes, voters: waiting.len() as u32 })
}

#[cold]
fn release_warps<W: Waits>(waiting: &mut [W], exchange: &mut Exchange) -> Result<Next, Stuck> {
    if let Some(blocks) = same_blocks(waiting) {
        return Ok(Next::Blocks(blocks));
    }
    exchange.make_room(waiting);
    let mut any = false;
    for warp in warps(waiting) {
        any |= release_meetings(warp, exchange);
    }
    if any {
        return Ok(Next::Some);
    }
    // Only now: a lane that is on its way may still come to where others converge.
    for warp in warps(waiting) {
        any |= release_converged(warp);
    }
    if any { Ok(Next::Some) } else { Err(find_stuck(waiting)) }
}

/// The blocks for which all wait, if that is at one barrier.
fn same_blocks<W: Waits>(waiting: &[W]) -> Option<Blocks> {
    let Wait::Blocks(blocks, first) = waiting.first()?.wait() else { return None };
    let is_there =
        |thread: &W| matches!(thread.wait(), Wait::Blocks(of, barrier) if (of, barrier) == (blocks, first));
    waiting.iter().all(is_there).then_some(blocks)
}

/// The threads of each warp.
fn warps<W: Waits>(waiting: &mut [W]) -> impl Iterator<Item = &mut [W]> {
    waiting.chunk_by_mut(|one, other| one.rank() as usize / LANES == other.rank() as usize / LANES)
}

fn lane<W: Waits>(thread: &W) -> u32 {
    thread.rank() % LANES as u32
}

/// Of these lanes those that have not ended: the threads of a warp that wait.
fn in_lanes<W: Waits>(warp: &[W], lanes: u32) -> impl Iterator<Item = usize> {
    (0..warp.len()).filter(move |&index| lanes >> lane(&warp[index]) & 1 != 0)
}

fn meeting_of(wait: Wait) -> Option<(Meeting, *const u8)> {
    match wait {
        Wait::Meeting { meeting, value } => Some((meeting, value)),
        _ => None,
    }
}

fn release_meetings<W: Waits>(warp: &mut [W], exchange: &mut Exchange) -> bool {
    let mut any = false;
    for index in 0..warp.len() {
        let thread = &warp[index];
        let Some((meeting, _)) = meeting_of(thread.wait()).filter(|_| thread.waits_on()) else { continue };
        let is_there =
            |other: usize| meeting_of(warp[other].wait()).is_some_and(|(there, _)| there == meeting);
        // A group that does not name the thread that uses it is one that another thread made: it meets nobody.
        let names_itself = meeting.lanes >> lane(thread) & 1 != 0;
        if !names_itself || !in_lanes(warp, meeting.lanes).all(is_there) {
            continue;
        }
        let mut lanes = 0;
        let values = exchange.take(meeting.value_bytes);
        for other in in_lanes(warp, meeting.lanes) {
            let Some((_, value)) = meeting_of(warp[other].wait()) else { continue };
            lanes |= 1 << lane(&warp[other]);
            let slot = values.wrapping_add(lane(&warp[other]) as usize * meeting.value_bytes);
            // SAFETY: the thread gave so many bytes and is suspended since; the slot is in what was taken for this meeting.
            unsafe { slot.copy_from_nonoverlapping(value, meeting.value_bytes) };
        }
        for member in warp.iter_mut().filter(|thread| lanes >> lane(*thread) & 1 != 0) {
            member.answer(Answer::Met { lanes, values });
        }
        any = true;
    }
    any
}

impl Exchange {
    /// Makes room for all meetings of these threads, of which nobody reads the last ones any more.
    fn make_room<W: Waits>(&mut self, waiting: &[W]) {
        let meetings = waiting.iter().filter_map(|thread| meeting_of(thread.wait()));
        // At most one meeting for each thread.
        let bytes = meetings.map(|(meeting, _)| LANES * meeting.value_bytes).sum();
        self.values.clear();
        self.values.reserve(bytes);
    }

    /// Memory for so many bytes of each lane, until `make_room` is called again.
    fn take(&mut self, value_bytes: usize) -> *mut u8 {
        let start = self.values.len();
        // There is room: nothing moves.
        self.values.resize(start + LANES * value_bytes, 0);
        self.values.as_mut_ptr().wrapping_add(start)
    }
}

fn release_converged<W: Waits>(warp: &mut [W]) -> bool {
    let mut any = false;
    for index in 0..warp.len() {
        let (Wait::Converge(place), true) = (warp[index].wait(), warp[index].waits_on()) else { continue };
        let is_here = |thread: &&W| matches!(thread.wait(), Wait::Converge(there) if there == place);
        let lanes = warp.iter().filter(is_here).fold(0, |lanes, thread| lanes | 1 << lane(thread));
        for thread in warp.iter_mut() {
            if lanes >> lane(thread) & 1 != 0 {
                thread.answer(Answer::Lanes(lanes));
            }
        }
        any = true;
    }
    any
}

/// Two threads of which one waits for the other, and the other elsewhere.
fn find_stuck<W: Waits>(waiting: &[W]) -> Stuck {
    for (index, thread) in waiting.iter().enumerate() {
        let Some((meeting, _)) = meeting_of(thread.wait()) else { continue };
        let warp = thread.rank() as usize / LANES;
        let is_missing = |other: &&W| {
            other.rank() as usize / LANES == warp
                && meeting.lanes >> lane(*other) & 1 != 0
                && meeting_of(other.wait()).is_none_or(|(there, _)| there != meeting)
        };
        // Itself, if the group that it uses is another thread's.
        let other = waiting.iter().find(is_missing).unwrap_or(&waiting[index]);
        return Stuck { first: thread.describe(), second: other.describe() };
    }
    // No warp waits for its lanes, so there are different barriers.
    let first = &waiting[0];
    let differs = |other: &&W| match (first.wait(), other.wait()) {
        (Wait::Barrier { barrier: one, .. }, Wait::Barrier { barrier: other, .. }) => one != other,
        _ => true,
    };
    let other = waiting[1..].iter().find(differs).unwrap_or(first);
    Stuck { first: first.describe(), second: other.describe() }
}
