//! Stacks for threads that wait at a barrier.
//!
//! A thread that waits keeps its stack. Stacks are kept for the next block, and there is a limit on how many there are at a
//! time: each is two mappings, of which Linux gives a process 65530 (`vm.max_map_count`), and a machine with many cores
//! could run blocks with more threads than that at once. Blocks beyond the limit wait for others to end.

use std::{
    io,
    sync::{Condvar, Mutex, PoisonError},
};

use corosensei::stack::{self, DefaultStack, StackPointer};

use super::overflow;

/// Address space per stack; memory is taken page by page as it is touched. A GPU thread has at most 512 KiB of local memory, and in
/// a build without optimisation what is moved lies there several times. Below 2 MiB, so that Linux never makes it a huge page, which
/// would be taken as a whole.
const STACK_BYTES: usize = (2 << 20) - (64 << 10);

/// How many stacks there may be, except that one block always gets all it needs.
pub(super) const MAX_STACKS: usize = 16 << 10;

static POOL: Mutex<Pool> = Mutex::new(Pool { free: Vec::new(), lent: 0 });
static GIVEN_BACK: Condvar = Condvar::new();

/// A stack with a guard page, known to [`overflow`].
pub(super) struct Stack(DefaultStack);

// SAFETY: that of the stack that it wraps.
unsafe impl stack::Stack for Stack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.0.base()
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.0.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> stack::StackTebFields {
        self.0.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.0.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Before the mapping is given back: the address may become another stack's.
        overflow::remove(stack::Stack::limit(&self.0).get());
    }
}

struct Pool {
    free: Vec<Stack>,
    /// Stacks that leases may take or make.
    lent: usize,
}

/// A new stack.
pub(super) fn new_stack() -> io::Result<Stack> {
    let stack = DefaultStack::new(STACK_BYTES)?;
    overflow::add(stack::Stack::limit(&stack).get(), STACK_BYTES);
    Ok(Stack(stack))
}

/// The right to some number of stacks, and those of them that nobody uses at the moment. Given back when dropped.
#[derive(Default)]
pub(super) struct Lease {
    lent: usize,
    idle: Vec<Stack>,
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
    pub(super) fn take(&mut self) -> io::Result<Stack> {
        self.idle.pop().map_or_else(new_stack, Ok)
    }

    /// Takes a stack back.
    pub(super) fn put(&mut self, stack: Stack) {
        self.idle.push(stack);
    }

    /// Gives the right back, and the stacks, none of which may be in use. What held them is kept for the next ones.
    pub(super) fn give_back(&mut self) {
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
