//! Where kernels on the CPU print to.

use core::cell::Cell;

/// Takes what kernels print.
pub trait Printer {
    /// Takes one record, as [`Print`](crate::print::Print) writes it: it holds the addresses of texts of this process.
    fn print(&self, record: &[u32]);
}

std::thread_local! {
    static PRINTER: Cell<Option<*const (dyn Printer + 'static)>> = const { Cell::new(None) };
}

/// Runs `kernels`, and gives what they print on this thread of the host meanwhile to `printer`.
///
/// # Safety
/// `kernels` returns or unwinds on this thread before any earlier call of this function does: it is not suspended halfway, as a
/// thread of a kernel is that waits at a barrier.
pub unsafe fn with_printer<R>(printer: &dyn Printer, kernels: impl FnOnce() -> R) -> R {
    struct Restore(Option<*const (dyn Printer + 'static)>);

    impl Drop for Restore {
        fn drop(&mut self) {
            PRINTER.set(self.0);
        }
    }

    let printer: *const (dyn Printer + '_) = printer;
    // SAFETY: only the lifetime changes; the printer is forgotten before this returns, because calls end in the reverse order, and
    // so before it ends.
    let printer: *const (dyn Printer + 'static) = unsafe { core::mem::transmute(printer) };
    let _restore = Restore(PRINTER.replace(Some(printer)));
    kernels()
}

/// Whether the caller is a kernel whose output somebody takes.
pub(crate) fn in_printing_kernel() -> bool {
    PRINTER.get().is_some()
}

/// Gives a record to who takes it.
pub(crate) fn print(record: &[u32]) {
    if let Some(printer) = PRINTER.get() {
        // SAFETY: `with_printer` borrows it as long as it is set.
        unsafe { &*printer }.print(record);
    }
}
