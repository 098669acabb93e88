//! Kernels with `programmatic_launch` see what the work before them wrote, and nothing of what comes after them.

use gpukernel::for_each;
use gpukernel_device_test_kernels::early_starts::{late, late_and_early, reversed, reversed_by_blocks};
use gpukernel_device_tests::on_every_device;

/// More than fits on a GPU at once, so that blocks of the next grid would come between.
const LEN: usize = (1 << 18) + 37;
/// Some microseconds on a GPU.
const ROUNDS: u32 = 3000;

/// The CPU need not take as long.
fn size(device: &gpukernel::Device) -> (usize, u32) {
    if device.is_gpu() { (LEN, ROUNDS) } else { (1037, 3) }
}

#[test]
fn each_comes_after_the_one_before_it() {
    on_every_device(|device, module| {
        let (len, rounds) = size(device);
        let stream = device.stream()?;
        let (mut x, mut y, mut z) =
            (device.zeroed::<u32>(len)?, device.zeroed::<u32>(len)?, device.zeroed::<u32>(len)?);
        for value in 0..20 {
            // Reads after writes, of a kernel that knows nothing of it, and of one that does; writes after reads.
            match value % 2 {
                0 => stream.launch(module, late, for_each(len), (rounds, value, &mut x))?,
                _ => stream.launch(module, late_and_early, for_each(len), (rounds, value, &mut x))?,
            }
            stream.launch(module, reversed, for_each(len), (&x, &mut y))?;
            stream.launch(module, late_and_early, for_each(len), (rounds, value + 100, &mut x))?;
            stream.launch(module, reversed_by_blocks, for_each(len), (&x, &mut z))?;
            assert_eq!(y.to_vec()?, vec![value + 1; len]);
            assert_eq!(z.to_vec()?, vec![value + 101; len]);
        }
        Ok(())
    });
}

/// Without anything that waits in between, each after the one before the one before it, too.
#[test]
fn a_chain_is_in_order() {
    on_every_device(|device, module| {
        let (len, rounds) = size(device);
        let stream = device.stream()?;
        let (mut x, mut y) = (device.zeroed::<u32>(len)?, device.zeroed::<u32>(len)?);
        stream.launch(module, late, for_each(len), (rounds, 1, &mut x))?;
        let mut expected = 1;
        for _ in 0..100 {
            // Halves and adds one: a step that is left out, or done twice, is seen.
            stream.launch(module, reversed, for_each(len), (&x, &mut y))?;
            stream.launch(module, late_and_early, for_each(len), (rounds / 10, expected + 3, &mut x))?;
            stream.launch(module, reversed_by_blocks, for_each(len), (&x, &mut y))?;
            expected += 3;
        }
        assert_eq!(y.to_vec()?, vec![expected + 1; len]);
        Ok(())
    });
}

/// Copies, events, frees and other streams are ordered with them as with all kernels.
#[test]
fn other_work_is_ordered_with_them() {
    on_every_device(|device, module| {
        let (len, rounds) = size(device);
        let streams = [device.stream()?, device.stream()?];
        for value in 0..20 {
            let [first, second] = &streams;
            let mut x = first.filled(len, 9_u32)?;
            let mut y = second.zeroed::<u32>(len)?;
            let mut copy = first.zeroed::<u32>(len)?;
            first.launch(module, late, for_each(len), (10 * rounds, value, &mut x))?;
            // On the other stream, where it waits for the first, behind a kernel that is done before that.
            second.launch(module, late_and_early, for_each(len), (1, 99, &mut y))?;
            second.launch(module, reversed, for_each(len), (&x, &mut y))?;
            first.copy(&y, &mut copy)?;
            first.launch(module, late_and_early, for_each(len), (rounds, 77, &mut y))?;
            // Freed while it is written, and allocated again.
            drop(y);
            let mut z = first.zeroed::<u32>(len)?;
            first.launch(module, reversed, for_each(len), (&x, &mut z))?;
            drop(x);
            let event = first.record()?;
            second.wait(&event)?;
            let again = second.filled(len, 5_u32)?;
            event.synchronize()?;
            assert_eq!(copy.to_vec()?, vec![value + 1; len]);
            assert_eq!(z.to_vec()?, vec![value + 1; len]);
            assert_eq!(again.to_vec()?, vec![5; len]);
        }
        Ok(())
    });
}

#[test]
fn graphs_launch_them() {
    on_every_device(|device, module| {
        let (len, rounds) = size(device);
        let memory = (device.zeroed::<u32>(len)?, device.zeroed::<u32>(len)?);
        let mut graph = device.stream()?.capture(memory, |capture, (x, y)| {
            let node = capture.launch(module, late_and_early, for_each(len), (rounds, 5, x))?;
            capture.launch(module, reversed, for_each(len), (x, y))?;
            Ok(node)
        })?;
        for value in 0..10 {
            let node = *graph.nodes();
            graph.update(node, |update, (x, _)| update.launch(for_each(len), (rounds, value, x)))?;
            graph.launch()?;
            graph.launch()?;
            assert_eq!(graph.memory().1.to_vec()?, vec![value + 1; len]);
        }
        Ok(())
    });
}
