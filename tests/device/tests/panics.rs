//! Panics in kernels: each is one error, with its place and, in dev builds, its message, and leaves the device usable.
//!
//! In a program of their own, one after another: a panic on a GPU is told to whoever waits for the device next.

use std::{
    any::type_name,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::channel,
    thread,
};

use gpukernel::{Device, Error, LaunchConfig, Result, for_each};
use gpukernel_device_test_kernels::{
    clusters::outside,
    conditions::count_down,
    early_starts::{late, panicking, reversed},
    outputs::add_index,
    panics::{
        DIVIDE_LINE, FIRST_LINE, STORE_LINE, all, before_barrier, cases, copy_rounds, divides, divides_too,
        inner_sums,
    },
    pointers::{TABLE, look_up, store_look_up},
    prints::last_words,
    programs::histogram_with_bug,
    sort::panics_before,
};
use gpukernel_device_tests::{Captured, KERNELS, on_every_device_alone, unless_too_old};

/// What a panic says, as an error does.
struct Panicked {
    kernel: String,
    message: String,
    location: String,
    block: [u32; 3],
    thread: [u32; 3],
}

/// Takes the panic that a launch, or the wait for it, returned.
fn panicked(result: Result<()>) -> Panicked {
    match result {
        Err(Error::KernelPanicked { kernel, message, location, block, thread }) => Panicked {
            kernel,
            message,
            location: location.expect("panics have a place"),
            block: [block.x, block.y, block.z],
            thread: [thread.x, thread.y, thread.z],
        },
        other => panic!("no panic, but {other:?}"),
    }
}

/// Compares a message, where one is recorded: not in release builds on a GPU.
fn check_message(device: &Device, found: &str, expected: &str) {
    if cfg!(debug_assertions) || !device.is_gpu() {
        assert_eq!(found, expected);
    } else {
        assert!(found.contains("release"), "{found}");
    }
}

/// Runs a case in the last but one of 96 threads, and checks all that the error says.
fn check(case: u32, expected: &str) {
    check_with(case, |device, message| check_message(device, message, expected));
}

fn check_with(case: u32, check: impl Fn(&Device, &str)) {
    on_every_device_alone(|device, module| {
        let values = device.upload(&[0, 1, 2, 3, 4, 5, 6, 7])?;
        let mut out = device.zeroed::<u32>(96)?;
        let grid = LaunchConfig::new(3, 32);
        let launched = module.launch(cases, grid, (case, 94, &values, &mut out));
        let found = panicked(launched.and_then(|()| device.synchronize()));
        assert_eq!(found.kernel, "gpukernel_device_test_kernels::panics::cases");
        let place = format!("src/panics.rs:{}:", FIRST_LINE + case);
        assert!(found.location.contains(&place), "{} is not {place}", found.location);
        assert_eq!((found.block, found.thread), ([2, 0, 0], [30, 0, 0]));
        check(device, &found.message);

        // Once is enough, and the next launch works.
        device.synchronize()?;
        module.launch(cases, grid, (case, usize::MAX, &values, &mut out))?;
        assert_eq!(out.to_vec()?, [1; 96]);
        Ok(())
    });
}

macro_rules! cases {
    ($($name:ident: $case:literal => $message:literal;)*) => {
        $(#[test]
        fn $name() {
            check($case, $message);
        })*
    };
}

cases! {
    an_index_out_of_bounds: 0 => "index out of bounds: the len is 8 but the index is 1094";
    a_range_that_ends_before_it_starts: 1 => "slice index starts at 2 but ends at 1";
    a_range_that_ends_behind_the_slice: 2 => "range end index 1094 out of range for slice of length 8";
    a_division_by_zero: 3 => "attempt to divide by zero";
    a_remainder_by_zero: 4 => "attempt to calculate the remainder with a divisor of zero";
    an_unwrapped_none: 5 => "called `Option::unwrap()` on a `None` value";
    an_expected_value_that_is_none: 6 => "a value behind the end";
    an_unwrapped_error: 7 => "called `Result::unwrap()` on an `Err` value: 7";
    an_expected_value_that_is_an_error: 8 => "no error: -7";
    a_panic_with_a_text: 9 => "plain";
    a_panic_with_numbers: 10 => "94 |   2|1     |0xff 3.00 -6";
    a_panic_with_all_kinds_of_values: 11 => "true 'x' \"text\" 340282366920938463463374607431768211454";
    a_failed_assert_with_a_message: 12 => "two is 2";
    a_failed_assert: 13 => "assertion failed: two == 3";
    a_failed_assert_eq: 14 => "assertion `left == right` failed\n  left: 2\n right: 3";
    a_failed_assert_eq_with_a_message: 15 => "assertion `left == right` failed: in thread 94\n  left: 2\n right: 3";
    a_failed_assert_ne: 16 => "assertion `left != right` failed\n  left: 2\n right: 2";
    code_that_should_not_be_reached: 17 => "internal error: entered unreachable code: case 17";
    code_that_is_missing: 18 => "not yet implemented";
    slices_of_different_lengths: 23 => "copy_from_slice: source slice length (8) does not match destination slice length (4)";
    a_division_that_overflows: 24 => "attempt to divide with overflow";
    a_width_and_a_precision_that_are_arguments: 26 => "   0.667";
}

/// Checks of dev builds.
#[cfg(debug_assertions)]
mod dev {
    use super::check;

    cases! {
        an_addition_that_overflows: 19 => "attempt to add with overflow";
        a_subtraction_that_overflows: 20 => "attempt to subtract with overflow";
        a_shift_that_overflows: 21 => "attempt to shift left with overflow";
        a_failed_debug_assert: 22 => "two is 2";
    }
}

/// Neither checks for overflow in release builds, on any device.
#[cfg(not(debug_assertions))]
#[test]
fn release_builds_do_not_check_for_overflow() {
    on_every_device_alone(|device, module| {
        let values = device.upload(&[0, 1, 2, 3, 4, 5, 6, 7])?;
        let mut out = device.zeroed::<u32>(1)?;
        for (case, expected) in [(19, 0), (20, u32::MAX), (21, 1), (22, 0)] {
            module.launch(cases, for_each(1), (case, 0, &values, &mut out))?;
            assert_eq!(out.to_vec()?, [expected]);
        }
        Ok(())
    });
}

/// The host formats the values of panics on a GPU, and knows no types of kernels.
#[test]
fn a_value_of_a_type_of_its_own() {
    check_with(25, |device, message| match device.is_gpu() {
        true if cfg!(debug_assertions) => assert_eq!(message, format!("<{}>", type_name::<gpu_std::Dim3>())),
        true => assert!(message.contains("release"), "{message}"),
        false => assert_eq!(message, "Dim3 { x: 32, y: 1, z: 1 }"),
    });
}

#[test]
fn a_function_of_two_kernels_tells_which_one_it_was_called_by() {
    on_every_device_alone(|device, module| {
        let by = device.upload(&[1, 2, 0, 4])?;
        let mut out = device.zeroed::<u32>(4)?;
        for _ in 0..2 {
            let launched = module.launch(divides, for_each(4), (&by, &mut out));
            let first = panicked(launched.and_then(|()| device.synchronize()));
            let launched = module.launch(divides_too, for_each(4), (&by, &mut out));
            let second = panicked(launched.and_then(|()| device.synchronize()));
            assert_eq!(first.kernel, "gpukernel_device_test_kernels::panics::divides");
            assert_eq!(second.kernel, "gpukernel_device_test_kernels::panics::divides_too");
            for found in [first, second] {
                assert_eq!((found.block, found.thread), ([0; 3], [2, 0, 0]));
                let place = format!("src/panics.rs:{DIVIDE_LINE}:5");
                assert!(found.location.ends_with(&place), "{} is not {place}", found.location);
                check_message(device, &found.message, "attempt to divide by zero");
            }
        }
        Ok(())
    });
}

#[test]
fn peers_of_a_panicking_thread_do_not_wait_for_it_at_the_barrier() {
    on_every_device_alone(|device, module| {
        let mut out = device.zeroed::<u32>(64)?;
        let launched = module.launch(before_barrier, LaunchConfig::new(1, 64), (40, &mut out));
        let found = panicked(launched.and_then(|()| device.synchronize()));
        assert_eq!(found.kernel, "gpukernel_device_test_kernels::panics::before_barrier");
        assert!((40..64).contains(&found.thread[0]), "{:?}", found.thread);
        check_message(device, &found.message, &format!("thread {} does not come", found.thread[0]));
        if device.is_gpu() {
            let written = out.to_vec()?;
            assert!(written[..40].iter().copied().eq((0..40).map(|i| i / 2 + 1)), "{written:?}");
        }
        module.launch(before_barrier, LaunchConfig::new(1, 64), (64, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..64).map(|i| i / 2 + 1)));
        Ok(())
    });
}

#[test]
fn what_was_printed_before_a_panic_is_there() {
    on_every_device_alone(|device, module| {
        let values = device.upload(&[1, 2, 3])?;
        let captured = Captured::default();
        module.set_output(captured.clone());
        let launched = module.launch(last_words, LaunchConfig::new(1, 1), (&values,));
        panicked(launched.and_then(|()| device.synchronize()));
        assert_eq!(captured.text(), "thread 0 says goodbye\n");
        Ok(())
    });
}

#[test]
fn of_many_panics_one_is_told() {
    on_every_device_alone(|device, module| {
        let mut out = device.zeroed::<u32>(1 << 16)?;
        let launched = module.launch(all, LaunchConfig::new(256, 256), (&mut out,));
        let found = panicked(launched.and_then(|()| device.synchronize()));
        let thread = found.block[0] * 256 + found.thread[0];
        check_message(device, &found.message, &format!("thread {thread}"));
        device.synchronize()
    });
}

#[test]
fn every_call_that_waits_tells_it() {
    on_every_device_alone(|device, module| {
        let mut out = device.zeroed::<u32>(10)?;
        let stream = device.stream()?;
        let mut launch = || stream.launch(module, all, for_each(10), (&mut out,));
        let waits: [&dyn Fn() -> Result<()>; 4] =
            [&|| stream.synchronize(), &|| device.synchronize(), &|| stream.record()?.synchronize(), &|| {
                stream.record()?.elapsed_since(&stream.record()?).map(drop)
            }];
        for wait in waits {
            launch()?;
            panicked(wait());
            wait()?;
        }
        launch()?;
        panicked(out.to_vec().map(drop));
        assert_eq!(out.to_vec()?.len(), 10);
        Ok(())
    });
}

#[test]
fn what_is_queued_behind_a_panic_runs() {
    on_every_device_alone(|device, module| {
        let values = device.upload(&[0, 1, 2, 3, 4, 5, 6, 7])?;
        let (mut first, mut second) = (device.zeroed::<u32>(10)?, device.zeroed::<u32>(10)?);
        let launched = module.launch(all, for_each(10), (&mut first,));
        module.launch(cases, for_each(10), (0, usize::MAX, &values, &mut second))?;
        let found = panicked(launched.and_then(|()| device.synchronize()));
        assert_eq!(found.kernel, "gpukernel_device_test_kernels::panics::all");
        assert_eq!(second.to_vec()?, [1; 10]);
        Ok(())
    });
}

/// The error is that of a launch, and the graph can be launched again.
#[test]
fn a_kernel_that_panics_in_a_graph() {
    on_every_device_alone(|device, module| {
        let stream = device.stream()?;
        let memory =
            (device.upload(&[0, 1, 2, 3, 4, 5, 6, 7])?, device.zeroed::<u32>(96)?, device.zeroed::<u32>(4)?);
        let grid = LaunchConfig::new(3, 32);
        let mut graph = stream.capture(memory, |capture, (values, out, after)| {
            let node = capture.launch(module, cases, grid, (0, 94, values, out))?;
            capture.fill(after, 7)?;
            Ok(node)
        })?;
        for _ in 0..2 {
            let launched = graph.launch();
            let found = panicked(launched.and_then(|()| device.synchronize()));
            assert_eq!(found.kernel, "gpukernel_device_test_kernels::panics::cases");
            assert!(found.location.contains(&format!("src/panics.rs:{FIRST_LINE}:")), "{}", found.location);
            assert_eq!((found.block, found.thread), ([2, 0, 0], [30, 0, 0]));
            check_message(device, &found.message, "index out of bounds: the len is 8 but the index is 1094");
            // Told once. What comes after it is done.
            device.synchronize()?;
            assert_eq!(graph.memory().2.to_vec()?, [7; 4]);
        }
        // Whoever copies what the graph writes is told, too.
        graph.launch()?;
        panicked(graph.memory().1.to_vec().map(drop));
        let node = *graph.nodes();
        graph.update(node, |update, (values, out, _)| {
            update.launch(grid, (0, usize::MAX, values, out));
        })?;
        graph.launch()?;
        assert_eq!(graph.memory().1.to_vec()?, [1; 96]);
        assert_eq!(graph.memory().2.to_vec()?, [7; 4]);
        Ok(())
    });
}

/// In a part that is done or left out, and in a loop.
#[test]
fn a_kernel_that_panics_in_a_part_of_a_graph() {
    on_every_device_alone(|device, module| {
        unless_too_old((|| {
            let memory = (
                device.upload(&[0, 1, 2, 3, 4, 5, 6, 7])?,
                device.zeroed::<u32>(96)?,
                device.zeroed::<u32>(4)?,
                [device.zeroed::<u32>(1)?, device.zeroed::<u32>(1)?],
            );
            let grid = LaunchConfig::new(3, 32);
            let mut graph =
                device.stream()?.capture(memory, |capture, (values, out, after, [once, rounds])| {
                    let (is_once, is_more) = (capture.condition(once)?, capture.condition(rounds)?);
                    capture.if_nonzero(is_once, |part| {
                        part.launch(module, cases, grid, (0, 94, values, out))?;
                        part.fill(&mut after[..2], 7)
                    })?;
                    capture.while_nonzero(is_more, |part| {
                        part.launch(module, count_down, LaunchConfig::new(1, 1), (rounds,))?;
                        part.launch(module, cases, grid, (3, 94, values, out))?;
                        part.fill(&mut after[2..3], 8)
                    })?;
                    capture.fill(&mut after[3..], 9).map(drop)
                })?;
            for (once, rounds, line, after) in
                [(1, 0, 0, [7, 7, 0, 9]), (0, 5, 3, [0, 0, 8, 9]), (0, 0, 0, [0, 0, 0, 9])]
            {
                graph.memory_mut().2.fill(0)?;
                graph.memory_mut().3[0].fill(once)?;
                graph.memory_mut().3[1].fill(rounds)?;
                let launched = graph.launch().and_then(|()| device.synchronize());
                if once + rounds == 0 {
                    launched?;
                } else {
                    let found = panicked(launched);
                    let place = format!("src/panics.rs:{}:", FIRST_LINE + line);
                    assert!(found.location.contains(&place), "{} is not {place}", found.location);
                    assert_eq!((found.block, found.thread), ([2, 0, 0], [30, 0, 0]));
                }
                // Told once. What comes after it is done, without the rest of the loop.
                device.synchronize()?;
                assert_eq!(graph.memory().2.to_vec()?, after);
                assert_eq!(graph.memory().3[1].to_vec()?, [rounds.saturating_sub(1)]);
            }
            Ok(())
        })())
    });
}

/// A loop in a loop, whose conditions stay as they are, with kernels of three modules, of which one panics.
#[test]
fn loops_whose_kernels_panic_have_an_end() {
    on_every_device_alone(|device, module| {
        unless_too_old((|| {
            let modules = [module, &device.load(&KERNELS)?, &device.load(&KERNELS)?];
            for panicking in modules {
                let memory = (device.filled(1, 1_u32)?, device.zeroed::<u32>(1)?, device.zeroed::<u64>(10)?);
                let mut graph = device.stream()?.capture(memory, |capture, (flag, out, values)| {
                    let more = capture.condition(flag)?;
                    capture.while_nonzero(more, |round| {
                        round.while_nonzero(more, |round| {
                            round.launch(panicking, all, for_each(1), (out,))?;
                            modules.iter().try_for_each(|module| {
                                round.launch(module, add_index, for_each(10), (&mut *values,)).map(drop)
                            })
                        })
                    })
                })?;
                for rounds in 1..=2 {
                    let found = panicked(graph.launch().and_then(|()| device.synchronize()));
                    assert_eq!(found.kernel, "gpukernel_device_test_kernels::panics::all");
                    device.synchronize()?;
                    assert_eq!(graph.memory().2.to_vec()?[0], 3 * rounds);
                }
            }
            Ok(())
        })())
    });
}

/// The graph waits for its work when it is dropped, and leaves the error to others.
#[test]
fn a_graph_is_dropped_while_its_kernel_panics() {
    on_every_device_alone(|device, module| {
        let mut graph = device.stream()?.capture(device.zeroed::<u32>(10)?, |capture, out| {
            capture.launch(module, all, for_each(10), (out,))
        })?;
        let launched = graph.launch();
        drop(graph);
        panicked(launched.and_then(|()| device.synchronize()));
        device.synchronize()
    });
}

#[test]
fn a_function_of_the_host_that_panics_is_an_error_of_who_waits() {
    on_every_device_alone(|device, module| {
        let mut graph = device.stream()?.capture(device.zeroed::<u64>(1000)?, |capture, values| {
            capture.callback(|| panic!("as the test wants"))?;
            capture.launch(module, add_index, for_each(1000), (values,))
        })?;
        for round in 1..3 {
            graph.launch()?;
            let told = device.synchronize();
            let Err(Error::CallbackPanicked { message, .. }) = told else { panic!("{told:?}") };
            assert_eq!(message, "as the test wants");
            device.synchronize()?;
            // What comes after it is done.
            assert_eq!(graph.memory().to_vec()?[0], round);
        }
        Ok(())
    });
}

/// What a kernel tells that was started early is told, and the next one runs.
#[test]
fn a_panic_in_a_kernel_that_was_started_early() {
    on_every_device_alone(|device, module| {
        let (mut x, mut y) = (device.zeroed::<u32>(1000)?, device.zeroed::<u32>(1000)?);
        module.launch(late, for_each(1000), (100, 3, &mut x))?;
        let launched = module.launch(panicking, for_each(1000), (&x, &mut y));
        let found = panicked(launched.and_then(|()| device.synchronize()));
        assert!(found.kernel.ends_with("early_starts::panicking"), "{}", found.kernel);
        assert_eq!(found.thread, [7, 0, 0]);
        module.launch(reversed, for_each(1000), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [4; 1000]);
        Ok(())
    });
}

#[test]
fn panics_on_two_streams_are_one_error_of_a_module() {
    on_every_device_alone(|device, module| {
        let streams = [device.stream()?, device.stream()?];
        let mut outs = [device.zeroed::<u32>(10)?, device.zeroed::<u32>(10)?];
        let mut told = 0;
        for (stream, out) in streams.iter().zip(&mut outs) {
            told += usize::from(stream.launch(module, all, for_each(10), (out,)).is_err());
        }
        for stream in &streams {
            told += usize::from(stream.synchronize().is_err());
        }
        // On the CPU device the second may come after the first was told.
        assert!(told == 1 || told == 2 && !device.is_gpu(), "{told}");
        while device.synchronize().is_err() {}
        Ok(())
    });
}

#[test]
fn a_module_may_be_dropped_before_its_panic_is_told() {
    on_every_device_alone(|device, _| {
        let mut out = device.zeroed::<u32>(10)?;
        let module = device.load(&KERNELS)?;
        let launched = module.launch(all, for_each(10), (&mut out,));
        drop(module);
        panicked(launched.and_then(|()| device.synchronize()));
        device.synchronize()
    });
}

/// The record of one module is not that of another.
#[test]
fn two_modules_tell_their_own_panics() {
    on_every_device_alone(|device, module| {
        let other = device.load(&KERNELS)?;
        let mut outs = [device.zeroed::<u32>(10)?, device.zeroed::<u32>(10)?];
        let [first, second] = &mut outs;
        let results =
            [module.launch(all, for_each(10), (first,)), other.launch(all, for_each(10), (second,))];
        for result in results {
            panicked(result.and_then(|()| device.synchronize()));
        }
        device.synchronize()
    });
}

/// Numba's document writes outside of the bins, and shows how to find that with a tool.
#[test]
fn the_bug_of_the_histogram_is_found_where_it_is() {
    on_every_device_alone(|device, module| {
        let mut bins = device.zeroed::<u32>(4)?;
        let values = device.upload(&[0.5, 4.0])?;
        let launched = module.launch(histogram_with_bug, for_each(2), (&values, 0.0, 4.0, &mut bins));
        let found = panicked(launched.and_then(|()| device.synchronize()));
        assert!(found.location.contains("src/programs.rs:"), "{}", found.location);
        assert_eq!(found.thread, [1, 0, 0]);
        check_message(device, &found.message, "index out of bounds: the len is 4 but the index is 4");
        assert_eq!(bins.to_vec()?, [1, 0, 0, 0]);
        Ok(())
    });
}

#[test]
fn a_block_that_lacks_a_thread_sorts_inside_of_its_scratch() {
    on_every_device_alone(|device, module| {
        for victim in [0, 5, 63] {
            let mut y = device.zeroed::<[u32; 4]>(64)?;
            let launched = module.launch(panics_before, LaunchConfig::new(1, 64), (victim, &mut y));
            let found = panicked(launched.and_then(|()| device.synchronize()));
            assert_eq!(found.thread, [victim, 0, 0]);
            // A place outside of shared memory would have cost the context.
            module.launch(panics_before, LaunchConfig::new(1, 64), (64, &mut y))?;
            assert!(y.to_vec()?.concat().into_iter().eq(0..256));
        }
        Ok(())
    });
}

#[test]
fn a_block_that_the_cluster_has_not() {
    on_every_device_alone(|device, module| {
        let mut out = device.zeroed::<u32>(64)?;
        let grid = LaunchConfig::new(2, 32);
        match module.launch(outside, grid, (1, &mut out)) {
            Err(Error::NoClusters { .. }) if device.is_gpu() => return Ok(()),
            launched => launched?,
        }
        assert_eq!(out.to_vec()?, [5; 64]);
        let launched = module.launch(outside, grid, (2, &mut out));
        let found = panicked(launched.and_then(|()| device.synchronize()));
        assert!(found.location.contains("src/clusters.rs:"), "{}", found.location);
        Ok(())
    });
}

/// The kernel that stores the function has blocks in which its check cannot fail; that which calls it has larger ones.
#[test]
fn an_index_that_is_out_of_bounds_in_a_function_that_another_kernel_stored() {
    on_every_device_alone(|device, module| {
        let table: [u32; TABLE] = std::array::from_fn(|i| i as u32 * 3);
        let table = device.upload(&[table])?;
        let mut out = device.zeroed::<u32>(2 * TABLE)?;
        module.launch(store_look_up, LaunchConfig::new(2, TABLE), (&table, &mut out))?;
        let expected: Vec<_> = (0..2 * TABLE).map(|i| (i % TABLE) as u32 * 3).collect();
        assert_eq!(out.to_vec()?, expected);
        module.launch(look_up, LaunchConfig::new(2, TABLE), (&table, &mut out))?;
        assert_eq!(out.to_vec()?, expected);

        let launched = module.launch(look_up, LaunchConfig::new(1, 2 * TABLE), (&table, &mut out));
        let found = panicked(launched.and_then(|()| device.synchronize()));
        assert_eq!(found.kernel, "gpukernel_device_test_kernels::pointers::look_up");
        assert!(found.location.contains("src/pointers.rs:"), "{}", found.location);
        assert!((TABLE as u32..2 * TABLE as u32).contains(&found.thread[0]), "{:?}", found.thread);
        let message = format!("index out of bounds: the len is 32 but the index is {}", found.thread[0]);
        check_message(device, &found.message, &message);
        Ok(())
    });
}

/// The check of each neighbour is one of whether there is an element (`bound-neighbours`).
#[test]
fn neighbours_in_nothing() {
    on_every_device_alone(|device, module| {
        for n in 0..6_u32 {
            let line: Vec<u32> = (0..n).map(|i| 10 + i * i).collect();
            let memory = device.upload(&line)?;
            let mut out = device.filled(8, 7_u32)?;
            let launched = module
                .launch(inner_sums, for_each(8), (&memory, &mut out))
                .and_then(|()| device.synchronize());
            if n == 0 {
                assert!(panicked(launched).location.contains("src/panics.rs"));
                continue;
            }
            launched?;
            let is_inner = |i: usize| i > 0 && i + 1 < line.len();
            let expected = (0..8).map(|i| if is_inner(i) { line[i - 1..=i + 1].iter().sum() } else { 0 });
            assert_eq!(out.to_vec()?, expected.collect::<Vec<u32>>(), "{n}");
        }
        Ok(())
    });
}

/// A loop has a version without checks, for which a comparison before it decides: what a thread does until a check fails, and which one fails, must not depend on it.
#[test]
fn a_loop_ends_in_the_round_whose_check_fails() {
    on_every_device_alone(|device, module| {
        const CELLS: usize = 12;
        let numbers: Vec<u32> = (1..=CELLS as u32).collect();
        let huge = 1 << 32;
        for (n, offset) in
            [(0, 0), (3, 0), (3, 9), (3, 10), (4, 0), (5, 8), (0, huge), (2, usize::MAX), (huge, 1)]
        {
            for len in [0, 2, 3, CELLS] {
                let x = device.upload(&numbers[..len])?;
                let (mut cells, mut sums) = (device.zeroed::<u32>(CELLS)?, device.zeroed::<u32>(2)?);
                let launched = module
                    .launch(copy_rounds, for_each(2), (n, offset, &x, &mut cells, &mut sums))
                    .and_then(|()| device.synchronize());

                let (mut expected, mut failed) = (vec![0; CELLS], None);
                for k in 0..n {
                    // The line above the store checks the same index of `x` first.
                    let stored = numbers[..len]
                        .get(k)
                        .and_then(|x| Some((x, expected.get_mut(k.wrapping_add(offset))?)));
                    match stored {
                        Some((x, cell)) => *cell = *x,
                        None => {
                            failed = Some(if k < len { STORE_LINE } else { STORE_LINE - 1 });
                            break;
                        }
                    }
                    if k.wrapping_mul(n) >= CELLS {
                        failed = Some(STORE_LINE + 1);
                        break;
                    }
                }
                let what = format!("{n} from {offset}, {len} elements");
                match failed {
                    Some(line) => {
                        let found = panicked(launched).location;
                        assert!(
                            found.contains(&format!("src/panics.rs:{line}:")),
                            "{what}: {found}, not {line}"
                        );
                    }
                    None => launched.unwrap_or_else(|error| panic!("{what}: {error}")),
                }
                assert_eq!(cells.to_vec()?, expected, "{what}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_panic_in_a_callback_is_an_error_of_whoever_waits() {
    on_every_device_alone(|device, _| {
        let stream = device.stream()?;
        // Not twice.
        for message in ["once", "again"] {
            stream.callback(move || std::panic::panic_any(message))?;
            let error = stream.synchronize().unwrap_err();
            assert!(
                matches!(&error, Error::CallbackPanicked { message: found, .. } if found == message),
                "{error}"
            );
            stream.synchronize()?;
        }
        stream.callback(|| panic!("{}", "formatted"))?;
        let error = device.synchronize().unwrap_err().to_string();
        assert!(error.ends_with("panicked: formatted"), "{error}");
        // Of no text at all.
        stream.callback(|| std::panic::panic_any(7))?;
        assert!(stream.record()?.synchronize().is_err());
        device.synchronize()
    });
}

/// Who takes the panic of a kernel on a GPU waits for all that runs there, the callback included.
#[test]
fn a_callback_panics_while_the_panic_of_a_kernel_is_told() {
    on_every_device_alone(|device, module| {
        let (stream, other) = (device.stream()?, device.stream()?);
        let mut out = device.zeroed::<u32>(10)?;
        for _ in 0..20 {
            stream.launch(module, all, for_each(10), (&mut out,))?;
            while !stream.is_done()? {
                thread::yield_now();
            }
            let (go, gone) = channel();
            other.callback(move || {
                gone.recv().expect("the test says so");
                panic!("in a callback");
            })?;
            let first = thread::scope(|scope| {
                let waiting = scope.spawn(|| stream.synchronize());
                go.send(()).expect("the callback listens");
                waiting.join().expect("no panic")
            });
            let errors = [first, device.synchronize()].map(Result::unwrap_err);
            assert!(errors.iter().any(|error| matches!(error, Error::CallbackPanicked { .. })), "{errors:?}");
            assert!(errors.iter().any(|error| matches!(error, Error::KernelPanicked { .. })), "{errors:?}");
            device.synchronize()?;
        }
        Ok(())
    });
}

/// A callback's panic does not come through a drop, and a scope's end tells it.
#[test]
fn the_end_of_a_scope_tells_of_a_panic() {
    on_every_device_alone(|device, _| {
        let stream = device.stream()?;
        let result = stream.scope(|scope| scope.callback(|| panic!("in a scope")));
        assert!(matches!(result, Err(Error::CallbackPanicked { .. })), "{result:?}");
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            let stream = device.stream().expect("a stream");
            stream.callback(|| panic!("on a stream that is dropped")).expect("a callback");
        }));
        assert!(dropped.is_ok());
        assert!(device.synchronize().is_err());
        device.synchronize()
    });
}
