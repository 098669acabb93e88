//! Functions in CUDA C on the CPU device: those that were compiled for the host, by the name that they have in C.

use core::{
    panic::Location,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::module_table;

/// A function that kernels of a module may call.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    /// Its name in C.
    pub name: &'static str,
    /// Where it is.
    pub code: HostCode,
}

/// Where a function is on the host.
#[derive(Clone, Copy, Debug)]
pub enum HostCode {
    /// Its address. The type is not that of the function.
    Here(unsafe extern "C" fn()),
    /// It has no version for the host, for a reason.
    Missing(&'static str),
}

/// What a thread unwinds with that called a function of CUDA C which has no version for the host.
#[derive(Clone, Debug)]
pub struct NoHostVersion {
    /// The function.
    pub function: &'static str,
    /// Why there is none.
    pub reason: &'static str,
    /// Where it was called.
    pub place: &'static Location<'static>,
}

/// A function that `#[device(import)]` declares.
#[doc(hidden)]
#[derive(Debug)]
pub struct Import {
    name: &'static str,
    /// Where it was in the table of the last module: it is there again almost always.
    index: AtomicUsize,
}

impl Import {
    /// By its name in C.
    pub const fn new(name: &'static str) -> Self {
        Self { name, index: AtomicUsize::new(0) }
    }

    /// The function in the module whose kernel runs here.
    ///
    /// # Panics
    /// Outside of a kernel. In a kernel of a module without the function, the thread unwinds with [`NoHostVersion`].
    #[track_caller]
    pub fn get(&self) -> unsafe extern "C" fn() {
        let Some(functions) = module_table::functions() else {
            panic!(
                "`{}` is a function of CUDA C, and can be called only in a kernel that is running",
                self.name
            );
        };
        let last = functions.get(self.index.load(Ordering::Relaxed));
        let found = match last.filter(|function| function.name == self.name) {
            Some(function) => Some(function),
            None => functions.binary_search_by(|function| function.name.cmp(self.name)).ok().map(|index| {
                self.index.store(index, Ordering::Relaxed);
                &functions[index]
            }),
        };
        match found.map(|function| function.code) {
            Some(HostCode::Here(code)) => code,
            Some(HostCode::Missing(reason)) => self.missing(reason),
            None => self.missing("no file that the build script links defines it in CUDA C or C++"),
        }
    }

    #[cold]
    #[track_caller]
    fn missing(&self, reason: &'static str) -> ! {
        let function = self.name;
        if cfg!(panic = "abort") {
            panic!("`{function}`, a function of CUDA C, has no version for the host: {reason}");
        }
        std::panic::resume_unwind(std::boxed::Box::new(NoHostVersion {
            function,
            reason,
            place: Location::caller(),
        }))
    }
}
