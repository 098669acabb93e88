//! The end of a thread of the CPU device from inside of it.

use core::panic::Location;

/// What a thread unwinds with that called [`exit`](crate::exit_thread). An executor that catches it takes the thread as ended.
#[derive(Clone, Copy, Debug)]
pub struct Exit;

/// Unwinds to the executor, without a word to the panic hook.
#[cold]
#[track_caller]
pub(crate) fn exit() -> ! {
    // Panics outside of a kernel, where nobody would catch it.
    super::current().block.exit(Location::caller());
    if cfg!(panic = "abort") {
        panic!(
            "`exit_thread` on the CPU device unwinds, which this program was built without (`panic = \"abort\"`): return instead"
        );
    }
    std::panic::resume_unwind(std::boxed::Box::new(Exit))
}
