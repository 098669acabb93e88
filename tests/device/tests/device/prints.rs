//! What kernels print: the same text on every device, and the one that Rust's own `format!` makes.

use gpu_std::{
    half::{f16, f16x2},
    vector::{Vector, f32x4, i16x2, u32x3},
};
use gpukernel::{Device, Error, LaunchConfig, Module, Result};
use gpukernel_device_test_kernels::prints::{cases, numbers, slices};
use gpukernel_device_tests::{Captured, on_every_device};

fn printed(device: &Device, module: &Module, launch: impl FnOnce() -> Result<()>) -> Result<String> {
    let captured = Captured::default();
    module.set_output(captured.clone());
    launch()?;
    device.synchronize()?;
    Ok(captured.text())
}

fn check(case: u32, expected: &str) {
    on_every_device(|device, module| {
        let ints = device.upload(&[0, 1, 2, 3])?;
        let floats = device.upload(&[1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY])?;
        let text = printed(device, module, || {
            module.launch(cases, LaunchConfig::new(1, 1), (case, &ints, &floats))
        })?;
        assert_eq!(text, format!("{expected}\n"));
        Ok(())
    });
}

#[test]
fn text() {
    check(0, "plain {braces}");
}

#[test]
fn integers_of_up_to_32_bits() {
    check(1, "254 -1 65535 -32768 4294967295 -2147483645");
}

#[test]
fn integers_of_64_bits() {
    check(2, &format!("{} {} 1 -3", u64::MAX, i64::MIN));
}

#[test]
fn integers_of_128_bits() {
    check(3, &format!("{} {} {:#x}", u128::MAX, i128::MIN, 3_u128 << 100));
}

#[test]
fn floats() {
    check(4, &format!("1.5 {:.3} {:e} 1.0 {:+08.2}", 0.5, 1.5e10_f32, -2.5));
}

#[test]
fn floats_that_are_not_finite() {
    check(5, "NaN inf -inf -0");
}

#[test]
fn truth_characters_and_texts() {
    check(6, "true 'x' é    ab|cd    |  ef   |\"q\\\"t\"");
}

#[test]
fn captured_named_and_repeated_arguments() {
    check(7, "3        3 0x0003 (3, 2.5) 4 4");
}

#[test]
fn arrays_tuples_and_places() {
    check(8, "[1, 2] (3, 'a', \"t\") Dim3 { x: 0, y: 0, z: 0 }");
}

#[test]
fn values_of_several_parts_in_their_forms() {
    check(9, &format!("{:#?} {:x?} {:5.1?}", [(3, 1.5)], [255, 16], [1.5, 1.5]));
}

#[test]
fn parts_of_a_line() {
    check(10, "ab3");
}

#[test]
fn widths_and_precisions_that_are_arguments() {
    check(11, &format!("{:8.1}|{:>6}|{:.2}|", 1.5, 6, 1.5));
}

#[test]
fn numbers_of_16_bits() {
    check(12, &format!("1.5 -2.5 {:8.2}|+inf", 3.0));
}

#[test]
fn complex_numbers() {
    check(13, "Complex { re: 1.5, im: 2.0 } Complex { re: -0.2, im: 1.5 }");
}

#[test]
fn vectors() {
    let (three, two) = (u32x3::new(1, 2, 3), i16x2::new(-1, 7));
    check(14, &format!("{:?} {three:#?} {two:4?} {:?}", f32x4::splat(1.5), f16x2::splat(f16::ONE)));
}

#[test]
fn slices_of_any_length() {
    check(15, &format!("[0, 1, 2, 3] [1.5] {:#x?} []", [3]));
}

#[test]
fn options() {
    check(16, &format!("Some(0) None {:5?} {:#?}", Some(1), [Some((3, Some('a'))), None]));
}

#[test]
fn slices_and_options_in_each_other() {
    check(17, "(Some([0, 1, 2, 3]), [[0], [], [0, 1, 2, 3]], [[(), (), ()], [(), (), ()]])");
}

/// A record has 2¹⁴ words: four in front, a tuple and a slice, and two per number.
#[test]
fn a_text_that_is_too_long_is_told() {
    on_every_device(|device, module| {
        let values = device.upload(&vec![7; 1 << 16])?;
        let print = |len| {
            let text =
                printed(device, module, || module.launch(slices, LaunchConfig::new(1, 1), (&values, len)))?;
            let (list, rest) = text.split_once('\n').expect("two lines");
            assert_eq!(rest, format!("{len}\n"), "what comes after it is printed");
            Ok::<_, Error>(list.to_owned())
        };
        let fits = ((1 << 14) - 6) / 2;
        assert_eq!(print(fits)?, format!("{:?}", vec![7; fits]));
        for len in [fits + 1, 1 << 16] {
            assert_eq!(print(len)?, "[gpukernel: a text of more than 64 KiB of values is not printed]");
        }
        Ok(())
    });
}

#[test]
fn every_thread_prints_its_line() {
    on_every_device(|device, module| {
        let text =
            printed(device, module, || module.launch(numbers, LaunchConfig::new(16, 128), (2000_usize,)))?;
        let mut lines: Vec<_> = text.lines().collect();
        let mut expected: Vec<_> = (0..2000).map(|thread| format!("thread {thread} of 2000")).collect();
        lines.sort_unstable();
        expected.sort_unstable();
        assert_eq!(lines, expected);
        Ok(())
    });
}

#[test]
fn output_comes_once_and_in_the_order_of_launches() {
    on_every_device(|device, module| {
        let captured = Captured::default();
        module.set_output(captured.clone());
        module.launch(numbers, LaunchConfig::new(1, 1), (1_usize,))?;
        module.launch(numbers, LaunchConfig::new(1, 1), (2_usize,))?;
        device.synchronize()?;
        assert_eq!(captured.text(), "thread 0 of 1\nthread 0 of 2\n");
        device.synchronize()?;
        module.launch(numbers, LaunchConfig::new(1, 1), (3_usize,))?;
        device.default_stream().record()?.synchronize()?;
        assert_eq!(captured.text(), "thread 0 of 1\nthread 0 of 2\nthread 0 of 3\n");
        Ok(())
    });
}

#[test]
fn kernels_that_print_nothing_leave_nothing() {
    on_every_device(|device, module| {
        assert_eq!(
            printed(device, module, || module.launch(numbers, LaunchConfig::new(4, 32), (0_usize,)))?,
            ""
        );
        Ok(())
    });
}

/// The buffer of a GPU has room for a megabyte, which is less than this. What is lost is counted, and the next launch prints again.
#[test]
fn what_finds_no_room_is_counted() {
    on_every_device(|device, module| {
        const THREADS: usize = 1 << 16;
        let text = printed(device, module, || {
            module.launch(numbers, LaunchConfig::new(THREADS / 256, 256), (THREADS,))
        })?;
        let (lines, rest): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with("thread "));
        let lost = match rest[..] {
            [] => 0,
            [notice] => {
                let (_, count) = notice.split_once("printed ").expect(notice);
                count.split(' ').next().and_then(|count| count.parse().ok()).expect(notice)
            }
            _ => panic!("{rest:?}"),
        };
        assert_eq!(lines.len() + lost, THREADS);
        assert_eq!(lost > 0, device.is_gpu());
        let text = printed(device, module, || module.launch(numbers, LaunchConfig::new(1, 1), (1_usize,)))?;
        assert_eq!(text, "thread 0 of 1\n");
        Ok(())
    });
}

/// A writer that fails.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the disk is full"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    gpukernel_device_tests::on_the_cpu(|device, module| {
        module.set_output(Full);
        let error = module
            .launch(numbers, LaunchConfig::new(1, 1), (1_usize,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        assert!(error.to_string().contains("the disk is full"), "{error}");
        assert_eq!(
            printed(device, module, || module.launch(numbers, LaunchConfig::new(1, 1), (0_usize,)))?,
            ""
        );
        Ok(())
    });
}
