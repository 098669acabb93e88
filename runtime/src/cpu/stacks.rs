//! Stacks for threads that wait at a barrier.
//!
//! A thread that waits keeps its stack. Stacks are kept for the next block, and there is a limit on how many there are at a
//! time: each is two mappings, of which Linux gives a process 65530 (`vm.max_map_count`), and a machine with many cores
//! could run blocks with more threads than that at once. Blocks beyond the limit wait for others to end.

use std::{
    io,
    sync::{Condvar, Mutex, PoisonError},
};

use corosensei::stack::DefaultStack;

/// Address space per stack; memory is taken page by page as it is touched. A GPU thread has a few KiB.
const STACK_BYTES: usize = 256 << 10;

/// How many stacks there may be, except that one block always gets all it needs.
pub(super) const MAX_STACKS: usize = 16 << 10;

static POOL: Mutex<Pool> = Mutex::new(Pool { free: Vec::new(), lent: 0 });
static GIVEN_BACK: Condvar = Condvar::new();

struct Pool {
    free: Vec<DefaultStack>,
    /// Stacks that leases may take or make.
    lent: usize,
}

/// A new stack.
pub(super) fn new_stack() -> io::Result<DefaultStack> {
    DefaultStack::new(STACK_BYTES)
}

/// The right to some number of stacks, and those of them that nobody uses at the moment. Given back when dropped.
#[derive(Default)]
pub(super) struct Lease {
    lent: usize,
    idle: Vec<DefaultStack>,
    /// Whether the right is another lease's.
    of_another: bool,
}

impl Lease {
    /// Stacks to which another lease has the right, and which end before it does.
    pub(super) fn of_another() -> Self {
        Self { lent: 0, idle: Vec::new(), of_another: true }
    }

    /// Makes this a lease of at least `count` stacks. Waits until other leases end, if they have too many; must not be
    /// called with stacks of this lease in use, or two that wait for each other would never end.
    pub(super) fn extend_to(&mut self, count: usize) {
        if self.lent >= count || self.of_another {
            return;
        }
        self.give_back();
        let pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |pool: &mut Pool| pool.lent != 0 && pool.lent + count > MAX_STACKS;
        let mut pool = GIVEN_BACK.wait_while(pool, fits).unwrap_or_else(PoisonError::into_inner);
        pool.lent += count;
        self.lent = count;
        let kept = pool.free.len().saturating_sub(count);
        self.idle.extend(pool.free.drain(kept..));
    }

    /// A stack. No more than the lease is for are ever out.
    pub(super) fn take(&mut self) -> io::Result<DefaultStack> {
        self.idle.pop().map_or_else(new_stack, Ok)
    }

    /// Takes a stack back.
    pub(super) fn put(&mut self, stack: DefaultStack) {
        self.idle.push(stack);
    }

    fn give_back(&mut self) {
        if self.lent == 0 {
            return;
        }
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        pool.lent -= self.lent;
        self.lent = 0;
        pool.free.append(&mut self.idle);
        drop(pool);
        GIVEN_BACK.notify_all();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn leases_beyond_the_limit_take_turns() {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let mut lease = Lease::default();
                        lease.extend_to(MAX_STACKS / 2 + 1);
                        let stack = lease.take().unwrap();
                        lease.put(stack);
                        assert_eq!(POOL.lock().unwrap().lent, MAX_STACKS / 2 + 1);
                    }
                });
            }
        });
    }
}
