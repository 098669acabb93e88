//! Parts of graphs that depend on numbers in memory.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    thread,
};

use gpukernel::{
    Capture, Condition, Device, DeviceSlice, Error, GraphPinned, LaunchConfig, Module, Node, PinnedSliceMut,
    Result, Stream, for_each,
};
use gpukernel_device_test_kernels::{
    conditions::{count_down, halve},
    early_starts::late,
    outputs::{add_index, saxpy},
};
use gpukernel_device_tests::{on_every_device, unless_too_old};

const LEN: usize = 1000;

#[test]
fn a_part_is_done_if_a_number_is_not_zero() {
    on_every_device(|device, module| {
        unless_too_old((|| {
            let memory = (device.zeroed::<u32>(2)?, device.zeroed::<u64>(LEN)?, device.zeroed::<u32>(3)?);
            let mut graph = device.stream()?.capture(memory, |capture, (flags, values, marks)| {
                let condition = capture.condition(&flags[1..])?;
                let part = capture.if_nonzero(condition, |body| {
                    body.launch(module, add_index, for_each(LEN), (values,))?;
                    body.launch(module, add_index, for_each(LEN), (values,))?;
                    body.fill(&mut marks[..1], 7)?;
                    body.copy(&flags[1..], &mut marks[1..2])
                })?;
                // After it, whatever it did.
                capture.after(part)?.copy(&flags[1..], &mut marks[2..])
            })?;
            let mut times = 0;
            for flag in [0, 1, 0, 5, u32::MAX, 0] {
                graph.memory_mut().0.fill(flag)?;
                graph.memory_mut().2.fill(0)?;
                graph.launch()?;
                times += if flag == 0 { 0 } else { 2 };
                let expected = if flag == 0 { [0, 0, 0] } else { [7, flag, flag] };
                assert_eq!(graph.memory().2.to_vec()?, expected, "{flag}");
                assert!(graph.memory().1.to_vec()?.into_iter().eq((0..LEN as u64).map(|i| times * (1 + i))));
            }
            Ok(())
        })())
    });
}

#[test]
fn of_several_parts_the_one_of_the_number_is_done() {
    on_every_device(|device, module| {
        unless_too_old((|| {
            let memory = (device.zeroed::<u32>(1)?, device.zeroed::<u64>(LEN)?, device.zeroed::<u32>(4)?);
            let mut graph = device.stream()?.capture(memory, |capture, (number, values, marks)| {
                let condition = capture.condition(number)?;
                let mut described = Vec::new();
                let parts = capture.switch(condition, 3, |part, body| {
                    described.push(part);
                    match part {
                        0 => body.fill(&mut marks[..1], 7),
                        // Another switch by the same number, and a loop that ends it.
                        1 => body.switch(condition, 2, |_, body| body.fill(&mut marks[1..2], 8)),
                        _ => {
                            body.launch(module, add_index, for_each(LEN), (values,))?;
                            body.while_nonzero(condition, |body| {
                                body.launch(module, count_down, LaunchConfig::new(1, 1), (number,))
                            })
                        }
                    }
                })?;
                assert_eq!(described, [0, 1, 2]);
                // Parts of which all, or one, do nothing.
                capture.if_nonzero(condition, |body| body.fill(&mut marks[..0], 0))?;
                capture.switch(condition, 2, |_, _| Ok(()))?;
                capture.switch(condition, 4, |part, body| match part {
                    3 => body.fill(&mut marks[2..3], 9).map(drop),
                    _ => Ok(()),
                })?;
                capture.switch(condition, 0, |_, _| -> Result<()> { panic!("there is no part") })?;
                capture.after(parts)?.copy(number, &mut marks[3..])
            })?;
            let mut times = 0;
            for number in [0, 1, 2, 3, u32::MAX, 2] {
                graph.memory_mut().0.fill(number)?;
                graph.memory_mut().2.fill(0)?;
                graph.launch()?;
                let expected = match number {
                    0 => [7, 0, 0, 0],
                    1 => [0, 8, 0, 1],
                    2 => [0, 0, 0, 0],
                    3 => [0, 0, 9, 3],
                    more => [0, 0, 0, more],
                };
                times += u64::from(number == 2);
                assert_eq!(graph.memory().2.to_vec()?, expected, "{number}");
                assert!(graph.memory().1.to_vec()?.into_iter().eq((0..LEN as u64).map(|i| times * (1 + i))));
            }
            // A clone, whose number is elsewhere.
            let memory = (device.filled(1, 1_u32)?, device.zeroed::<u64>(LEN)?, device.zeroed::<u32>(4)?);
            let mut clone = graph.clone_with(memory)?;
            drop(graph);
            clone.launch()?;
            assert_eq!(clone.memory().2.to_vec()?, [0, 8, 0, 1]);
            Ok(())
        })())
    });
}

/// Of which the second one fails: nothing of the first is recorded.
#[test]
fn a_part_that_fails_is_the_end_of_the_others() {
    on_every_device(|device, _| {
        let memory = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(2)?);
        let mut graph = device.stream()?.capture(memory, |capture, (number, x)| {
            let condition = capture.condition(number)?;
            let mut described = 0;
            let failed = capture.switch(condition, 3, |part, body| {
                described += 1;
                let around = capture.fill(&mut x[..1], 1);
                assert!(matches!(around, Err(Error::OuterCapture { method: "switch", .. })), "{around:?}");
                if part == 1 { body.callback(|| ()) } else { body.fill(&mut x[..1], 1) }
            });
            assert!(matches!(failed, Err(Error::NotCapturable { .. })), "{failed:?}");
            assert_eq!(described, 2);
            capture.fill(&mut x[1..], 2)
        })?;
        graph.launch()?;
        assert_eq!(graph.memory().1.to_vec()?, [0, 2]);
        Ok(())
    });
}

#[test]
fn a_part_is_repeated_as_long_as_a_number_is_not_zero() {
    on_every_device(|device, module| {
        unless_too_old((|| {
            let memory = (device.zeroed::<u32>(1)?, device.zeroed::<u64>(LEN)?);
            let mut graph = device.stream()?.capture(memory, |capture, (left, values)| {
                let condition = capture.condition(left)?;
                capture.while_nonzero(condition, |body| {
                    body.launch(module, add_index, for_each(LEN), (values,))?;
                    body.launch(module, count_down, LaunchConfig::new(1, 1), (left,))
                })
            })?;
            let mut times = 0;
            for rounds in [0, 1, 2, 100, 0, 17] {
                graph.memory_mut().0.fill(rounds)?;
                graph.launch()?;
                times += u64::from(rounds);
                assert_eq!(graph.memory().0.to_vec()?, [0]);
                assert!(graph.memory().1.to_vec()?.into_iter().eq((0..LEN as u64).map(|i| times * (1 + i))));
            }
            Ok(())
        })())
    });
}

/// A loop in a loop, with branches, and a condition that a kernel before it makes.
#[test]
fn parts_may_be_in_parts() {
    on_every_device(|device, module| {
        unless_too_old((|| {
            let memory = (
                [1_u32; 4].map(|value| device.filled(1, value)),
                device.zeroed::<u64>(LEN)?,
                device.zeroed::<f32>(LEN)?,
                device.filled(LEN, 1.0_f32)?,
            );
            let ([rows, columns, left, is_even], values, sum, ones) = memory;
            let memory = ([rows?, columns?, left?, is_even?], values, sum, ones);
            let mut graph = device.stream()?.capture(memory, |capture, (numbers, values, sum, ones)| {
                let [rows, columns, left, is_even] = numbers;
                let outer = capture.condition(rows)?;
                let (inner, even) = (capture.condition(left)?, capture.condition(is_even)?);
                capture.while_nonzero(outer, |body| {
                    body.copy(columns, left)?;
                    body.while_nonzero(inner, |body| {
                        let other = body.fork()?;
                        body.launch(module, add_index, for_each(LEN), (values,))?;
                        other.launch(module, count_down, LaunchConfig::new(1, 1), (left,))?;
                        body.join(&other)
                    })?;
                    body.launch(module, halve, LaunchConfig::new(1, 1), (rows, is_even))?;
                    body.if_nonzero(even, |body| body.launch(module, saxpy, for_each(LEN), (1.0, ones, sum)))
                })
            })?;
            // 12, 6, 3, 1: of these two are even; each has seven columns.
            for round in 1..=3 {
                graph.memory_mut().0[0].fill(12)?;
                graph.memory_mut().0[1].fill(7)?;
                graph.launch()?;
                assert_eq!(graph.memory().2.to_vec()?, vec![2.0 * round as f32; LEN]);
                let times = 28 * round;
                assert!(graph.memory().1.to_vec()?.into_iter().eq((0..LEN as u64).map(|i| times * (1 + i))));
            }
            let memory = (
                [device.filled(1, 3)?, device.filled(1, 2)?, device.filled(1, 9)?, device.filled(1, 9)?],
                device.zeroed::<u64>(LEN)?,
                device.zeroed::<f32>(LEN)?,
                device.filled(LEN, 1.0_f32)?,
            );
            let mut clone = graph.clone_with(memory)?;
            drop(graph);
            clone.launch()?;
            assert_eq!(clone.memory().2.to_vec()?, [0.0; LEN]);
            assert_eq!(clone.memory().1.to_vec()?[1], 8);
            Ok(())
        })())
    });
}

/// What a part uses is ordered with the rest of the graph.
#[test]
fn parts_are_ordered_by_what_they_use() {
    on_every_device(|device, module| {
        unless_too_old((|| {
            let memory = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(LEN)?, device.zeroed::<u32>(LEN)?);
            let mut graph = device.stream()?.capture(memory, |capture, (flag, x, y)| {
                let condition = capture.condition(flag)?;
                // After nothing, but the part reads the flag and what the kernel writes.
                capture.after(())?.launch(module, late, for_each(LEN), (1000, 6, x))?;
                capture.after(())?.launch(module, late, for_each(1), (1000, 1, flag))?;
                capture.after(())?.if_nonzero(condition, |body| body.copy(x, y))?;
                capture.after(())?.fill(x, 0)?;
                capture.after(())?.fill(flag, 0)
            })?;
            for _ in 0..5 {
                graph.memory_mut().2.fill(0)?;
                graph.launch()?;
                let (flag, x, y) = graph.memory();
                assert_eq!((flag.to_vec()?, x.to_vec()?), (vec![0], vec![0; LEN]));
                assert!(y.to_vec()?.into_iter().all(|value| value >> 1 == 6));
            }
            Ok(())
        })())
    });
}

#[test]
fn what_cannot_be_in_a_part_is_an_error() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let outside = device.zeroed::<u32>(1)?;
        let mut kept: Option<Condition> = None;
        let mut escaped = None;
        stream.capture(device.zeroed::<u32>(2)?, |capture, numbers| {
            kept = Some(capture.condition(&numbers[..1])?);
            Ok(())
        })?;
        let kept = kept.expect("it was given");
        let mut graph = stream.capture(device.zeroed::<u32>(4)?, |capture, numbers| {
            let (flag, rest) = numbers.split_at_mut(1);
            for wrong in [capture.condition(rest), capture.condition(&flag[..0]), capture.condition(&outside)]
            {
                let is_right = matches!(wrong, Err(Error::LengthMismatch { .. } | Error::NotInGraph { .. }));
                assert!(is_right, "{wrong:?}");
            }
            let wrong = capture.if_nonzero(kept, |_| -> Result<()> { panic!("it is not called") });
            assert!(matches!(wrong, Err(Error::WrongNode { .. })), "{wrong:?}");
            let condition = capture.condition(flag)?;
            let before = capture.fill(rest, 2)?;
            // Of a part that fails nothing is left.
            let failed = capture.if_nonzero(condition, |body| {
                let callback = body.callback(|| ());
                assert!(matches!(callback, Err(Error::NotCapturable { .. })), "{callback:?}");
                assert!(matches!(body.after(before), Err(Error::WrongNode { .. })));
                assert!(matches!(body.join(capture), Err(Error::CaptureEnded)));
                let outside = body.copy(&outside, &mut rest[..1]);
                assert!(matches!(outside, Err(Error::NotInGraph { .. })), "{outside:?}");
                body.fill(rest, 3)?;
                escaped = Some(body.fork()?);
                Err::<(), _>(Error::CaptureEnded)
            });
            assert!(matches!(failed, Err(Error::CaptureEnded)));
            capture.launch(module, count_down, for_each(0), (&mut rest[..0],))
        })?;
        graph.memory_mut().fill(1)?;
        graph.launch()?;
        assert_eq!(graph.memory().to_vec()?, [1, 2, 2, 2]);
        drop(escaped);
        Ok(())
    });
}

fn part<R>(
    is_loop: bool,
    capture: &Capture,
    condition: Condition,
    code: impl FnOnce(&Capture) -> Result<R>,
) -> Result<Node> {
    match is_loop {
        true => capture.while_nonzero(condition, code),
        false => capture.if_nonzero(condition, code),
    }
}

/// The memory of the test below.
struct Lent<'m> {
    left: &'m mut DeviceSlice<u32>,
    x: &'m mut DeviceSlice<u32>,
    y: &'m mut DeviceSlice<f64>,
    host: PinnedSliceMut<'m, u32>,
}

impl Lent<'_> {
    /// All that records or orders work on a capture, or, as functions for streams do, on its stream.
    fn use_all(
        &mut self,
        capture: &Capture,
        module: &Module,
        condition: Condition,
    ) -> Result<Vec<Result<()>>> {
        let Self { left, x, y, host } = self;
        let stream: &Stream = capture;
        let (one, is_not_called) =
            (LaunchConfig::new(1, 1), |_: &Capture| -> Result<()> { panic!("it is called") });
        Ok(vec![
            capture.launch(module, count_down, one, (left,)).map(drop),
            // SAFETY: the kernel is safe.
            unsafe { capture.launch_unsafe(module, count_down, for_each(0), (&mut left[..0],)).map(drop) },
            capture.fill(left, 0).map(drop),
            capture.fill(&mut left[..0], 0).map(drop),
            // By copies.
            capture.fill(y, 1.5).map(drop),
            capture.copy(left, x).map(drop),
            capture.copy_to_device(&[7], x).map(drop),
            capture.copy_from_pinned(&*host, x).map(drop),
            capture.copy_to_pinned(x, host).map(drop),
            capture.copy_view(&left.view_2d(1)?, &mut x.view_2d_mut(1)?).map(drop),
            capture.copy_view_to_device(&[7], &mut x.view_2d_mut(1)?).map(drop),
            capture.copy_view_from_pinned(&*host, &mut x.view_2d_mut(1)?).map(drop),
            capture.copy_view_to_pinned(&x.view_2d(1)?, host).map(drop),
            capture.fork().map(drop),
            capture.join(capture),
            capture.after(()).map(drop),
            capture.if_nonzero(condition, is_not_called).map(drop),
            capture.while_nonzero(condition, is_not_called).map(drop),
            capture.switch(condition, 2, |_, capture| is_not_called(capture)).map(drop),
            stream.launch(module, count_down, one, (left,)),
            stream.fill(left, 0),
            stream.fill(y, 1.5),
            stream.copy(left, x),
            stream.copy_to_device(&[7], x),
            stream.copy_view(&left.view_2d(1)?, &mut x.view_2d_mut(1)?),
            stream.copy_view_to_device(&[7], &mut x.view_2d_mut(1)?),
        ])
    }

    /// That none of it works on this capture, whose method has not returned.
    #[track_caller]
    fn check_refused(
        &mut self,
        capture: &Capture,
        method: &str,
        module: &Module,
        condition: Condition,
    ) -> Result<()> {
        for (index, result) in self.use_all(capture, module, condition)?.into_iter().enumerate() {
            let is_right =
                matches!(&result, Err(Error::OuterCapture { method: found, .. }) if *found == method);
            assert!(is_right, "{index} in `{method}`: {result:?}");
        }
        Ok(())
    }
}

/// What was recorded on it came before the part: a loop whose counter was counted down there by mistake had no end.
#[test]
fn an_outer_capture_records_nothing_while_a_part_is_described() {
    fn describe(
        device: &Device,
        module: &Module,
        [outer_is_loop, inner_is_loop]: [bool; 2],
    ) -> Result<[u32; 2]> {
        let memory = (
            [device.filled(1, 3_u32)?, device.zeroed::<u32>(1)?],
            device.zeroed::<f64>(3)?,
            GraphPinned::from(device.pinned::<u32>(1)?),
        );
        let mut graph = device.stream()?.capture(memory, |capture, ([left, x], y, host)| {
            let mut lent = Lent { left, x, y, host };
            let [outer, inner] = [outer_is_loop, inner_is_loop]
                .map(|is_loop| if is_loop { "while_nonzero" } else { "if_nonzero" });
            let condition = capture.condition(lent.left)?;
            let branch = capture.fork()?;
            let before = capture.fill(lent.x, 5)?;
            part(outer_is_loop, capture, condition, |body| {
                let own = body.fork()?;
                for around in [capture, &branch] {
                    lent.check_refused(around, outer, module, condition)?;
                    let callback = around.callback(|| ());
                    assert!(matches!(callback, Err(Error::OuterCapture { .. })), "{callback:?}");
                    let after = around.after(before);
                    assert!(matches!(after, Err(Error::OuterCapture { .. })), "{after:?}");
                }
                let elsewhere = thread::scope(|scope| scope.spawn(|| branch.fork().map(drop)).join());
                assert!(matches!(elsewhere, Ok(Err(Error::OuterCapture { .. }))), "{elsewhere:?}");
                // This records nothing.
                let condition = capture.condition(lent.left)?;
                part(inner_is_loop, body, condition, |innermost| {
                    for (around, method) in [(capture, outer), (&branch, outer), (body, inner), (&own, inner)]
                    {
                        lent.check_refused(around, method, module, condition)?;
                    }
                    innermost.launch(module, count_down, LaunchConfig::new(1, 1), (&mut *lent.left,))
                })?;
                lent.check_refused(capture, outer, module, condition)?;
                // The body of the outer part works again.
                body.join(&own)?;
                body.launch(module, count_down, for_each(0), (&mut lent.x[..0],))
            })?;
            // And so does what is around it, also after parts that failed.
            capture.launch(module, count_down, LaunchConfig::new(1, 1), (&mut *lent.x,))?;
            let failed = part(outer_is_loop, capture, condition, |body| {
                lent.check_refused(&branch, outer, module, condition)?;
                part(inner_is_loop, body, condition, |_| Err::<(), _>(Error::ZeroStep))
            });
            assert!(matches!(failed, Err(Error::ZeroStep)), "{failed:?}");
            capture.launch(module, count_down, LaunchConfig::new(1, 1), (&mut *lent.x,))?;
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                part(outer_is_loop, capture, condition, |body| {
                    part(inner_is_loop, body, condition, |_| -> Result<()> { resume_unwind(Box::new(())) })
                })
            }));
            assert!(panicked.is_err());
            capture.join(&branch)?;
            capture.callback(|| ())?;
            capture.after(before)?.launch(module, count_down, LaunchConfig::new(1, 1), (lent.x,))
        })?;
        graph.launch()?;
        let [left, x] = &graph.memory().0;
        Ok([left.to_vec()?[0], x.to_vec()?[0]])
    }
    on_every_device(|device, module| {
        unless_too_old((|| {
            for (is_loop, left) in
                [([false, false], 2), ([false, true], 0), ([true, false], 0), ([true, true], 0)]
            {
                // None of what was refused is in the graph.
                assert_eq!(describe(device, module, is_loop)?, [left, 2], "{is_loop:?}");
            }
            Ok(())
        })())
    });
}
