//! Parts of graphs that depend on numbers in memory.

use gpukernel::{Condition, Error, LaunchConfig, Result, for_each};
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
