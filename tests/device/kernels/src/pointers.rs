//! Functions that one kernel stores in a static and another one calls.

use core::{
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use gpu_std::prelude::{cluster::*, collective::*, warp::*, *};

/// A reference that is set while the program runs, as `once_cell::race::OnceRef` is.
struct Stored<T: 'static>(AtomicPtr<T>);

impl<T> Stored<T> {
    const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    fn set(&self, value: &'static T) {
        self.0.store(ptr::from_ref(value).cast_mut(), Ordering::Release);
    }

    fn get(&self) -> Option<&'static T> {
        // SAFETY: it is null, or `set` made it of a reference that lives as long as the program.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }
}

/// As many elements as [`store_look_up`] has threads in a block.
pub const TABLE: usize = 32;

type LookUp = fn(&[u32; TABLE]) -> u32;

static LOOK_UP: Stored<LookUp> = Stored::new();
static ELEMENT: LookUp = element;

/// Panics if the thread has no element.
fn element(table: &[u32; TABLE]) -> u32 {
    table[thread_index().x as usize]
}

/// Stores a function that looks the thread up in a table. In blocks of this size no check can fail.
#[kernel(block = 32)]
pub fn store_look_up(table: &[[u32; TABLE]], out: PerThread<u32>) {
    LOOK_UP.set(&ELEMENT);
    for (_, out) in out {
        *out = element(&table[0]);
    }
}

/// Calls it, in blocks of any size.
#[kernel]
pub fn look_up(table: &[[u32; TABLE]], out: PerThread<u32>) {
    let found = LOOK_UP.get().map_or(u32::MAX, |look_up| look_up(&table[0]));
    for (_, out) in out {
        *out = found;
    }
}

/// Something that threads wait for.
trait Wait: Sync {
    fn wait(&self);
}

struct ForGrid;

impl Wait for ForGrid {
    fn wait(&self) {
        sync_grid();
    }
}

static WAIT: Stored<&dyn Wait> = Stored::new();
static FOR_GRID: &dyn Wait = &ForGrid;

/// Stores the barrier of the grid.
#[kernel]
pub fn store_wait(out: PerThread<u32>) {
    WAIT.set(&FOR_GRID);
    for (_, out) in out {
        *out = 1;
    }
}

/// Every thread adds its number, and all see the sum behind the barrier that is stored.
#[kernel]
pub fn sum_behind_wait(sum: &[Atomic<u32>], seen: PerThread<u32>) {
    sum[0].fetch_add(global_rank() as u32);
    if let Some(wait) = WAIT.get() {
        wait.wait();
    }
    for (_, seen) in seen {
        *seen = sum[0].load();
    }
}

static MEETING: [fn(u32) -> u32; 2] = [meet, ballot];

fn meet(round: u32) -> u32 {
    sync_count((), round.is_multiple_of(2)).1
}

fn ballot(round: u32) -> u32 {
    warp().ballot(round.is_multiple_of(2)).count_ones()
}

/// A barrier or a vote, as the host says, in as many rounds as each thread is told.
#[kernel]
pub fn meet_in_rounds(rounds: &[u32], which: usize, out: PerThread<u32>) {
    let meet = MEETING[which];
    let mut total = 0;
    for round in 0..rounds[global_rank()] {
        total += meet(round);
    }
    for (_, out) in out {
        *out = total;
    }
}
