//! Where a debugger stops: a function that is called when one thread of a launch is about to start, which `cargo gpukernel debug` names in the
//! environment.

use std::sync::OnceLock;

use gpu_std::Dim3;
use gpukernel_abi::report::{Event, STOP_VARIABLE};

use crate::{launch::rules::CheckedConfig, report};

/// A thread of a launch to stop at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    block: Dim3,
    thread: Dim3,
}

/// What the environment asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    kernel: String,
    stop: Stop,
}

impl Stop {
    /// The thread of this launch to stop at, if there is one.
    pub(super) fn of_launch(kernel: &str, shape: CheckedConfig) -> Option<Self> {
        static WANTED: OnceLock<Option<Wanted>> = OnceLock::new();
        let wanted = WANTED.get_or_init(|| Wanted::parse(std::env::var(STOP_VARIABLE).ok()?.as_str()));
        let wanted = wanted.as_ref().filter(|wanted| wanted.kernel == kernel)?;
        let Stop { block, thread } = wanted.stop;
        let is_in = |place: Dim3, of: Dim3| place.x < of.x && place.y < of.y && place.z < of.z;
        (is_in(block, shape.grid) && is_in(thread, shape.block)).then_some(wanted.stop)
    }

    /// Tells the debugger that this thread is about to start, if it is the one.
    pub(super) fn start(self, block: Dim3, thread: Dim3) {
        if self == (Self { block, thread }) {
            if let Some(report) = report::of_process() {
                report.write(&Event::Stop);
            }
            gpukernel_stop();
        }
    }
}

impl Wanted {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.rsplitn(3, '@');
        let mut place = || {
            let mut axes = parts.next()?.split(',').map(str::parse);
            let mut axis = || axes.next()?.ok();
            let place = Dim3::new(axis()?, axis()?, axis()?);
            axes.next().is_none().then_some(place)
        };
        let (thread, block) = (place()?, place()?);
        Some(Self { kernel: parts.next()?.to_owned(), stop: Stop { block, thread } })
    }
}

/// Does nothing: debuggers find it by its name, which is that of [`gpukernel_abi::report::STOP_FUNCTION`].
// SAFETY: no other library has a function of this name, which begins with that of this package.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn gpukernel_stop() {
    // Or it would be one with other functions that do nothing.
    std::hint::black_box(STOP_VARIABLE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_a_thread_of_a_kernel() {
        let stop = Stop { block: Dim3::new(3, 0, 1), thread: Dim3::new(7, 2, 0) };
        let wanted = Wanted { kernel: "kernels::a::<[f32@1]>".to_owned(), stop };
        assert_eq!(Wanted::parse("kernels::a::<[f32@1]>@3,0,1@7,2,0"), Some(wanted));
        for text in ["", "kernels::a", "kernels::a@1,2,3", "a@1,2@1,2,3", "a@1,2,3,4@1,2,3", "a@x,0,0@0,0,0"]
        {
            assert_eq!(Wanted::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_function_has_the_name_that_debuggers_are_told() {
        assert_eq!(gpukernel_abi::report::STOP_FUNCTION, "gpukernel_stop");
    }
}
