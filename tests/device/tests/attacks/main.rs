//! Safe code that tries to use memory before, after or beside the work that uses it: on two streams, by leaks, drops in any order, and threads. In a program
//! of its own, one test after another: who waits for the whole device waits for a held stream, too.

mod drops;
mod leaks;
mod pairs;

use std::{sync::Mutex, thread};

use gpukernel::{Result, for_each};
use gpukernel_device_test_kernels::outputs::saxpy;
use gpukernel_device_tests::on_every_device_alone;

const LEN: usize = 1 << 12;

/// The value that all have.
fn uniform(values: &[f32]) -> f32 {
    let first = values[0];
    assert!(values.iter().all(|value| *value == first), "values differ");
    first
}

/// Their own streams, graphs and memory; the same module, the same memory to read, and a buffer that they take turns with.
#[test]
fn threads_share_a_device() {
    on_every_device_alone(|device, module| {
        const THREADS: usize = 4;
        const ROUNDS: usize = 50;
        let ones = device.filled(LEN, 1.0_f32)?;
        let shared = Mutex::new(device.zeroed::<f32>(LEN)?);
        let work = |number: usize| -> Result<()> {
            let stream = device.stream()?;
            let mut graph = stream.capture((&ones, device.zeroed::<f32>(LEN)?), |capture, (ones, y)| {
                capture.launch(module, saxpy, for_each(LEN), (1.0, ones, y)).map(drop)
            })?;
            for round in 0..ROUNDS {
                let mut own = stream.filled(LEN, number as f32)?;
                stream.launch(module, saxpy, for_each(LEN), (2.0, &ones, &mut own))?;
                graph.launch()?;
                {
                    let mut shared = shared.lock().expect("no thread panics");
                    stream.launch(module, saxpy, for_each(LEN), (1.0, &ones, &mut *shared))?;
                }
                if round % 10 == 0 {
                    assert_eq!(uniform(&own.to_vec()?), number as f32 + 2.0);
                }
            }
            assert_eq!(uniform(&graph.memory().1.to_vec()?), ROUNDS as f32);
            Ok(())
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
        })?;
        let sum = shared.into_inner().expect("no thread panics");
        assert_eq!(uniform(&sum.to_vec()?), (THREADS * ROUNDS) as f32);
        Ok(())
    });
}

/// The elements are those of the call, whatever becomes of the slice behind it.
#[test]
fn slices_of_the_host_may_be_changed_behind_a_copy() {
    on_every_device_alone(|device, _| {
        let stream = device.stream()?;
        let mut numbers = vec![1.0_f32; 1 << 20];
        let mut copy = stream.upload(&numbers)?;
        numbers.fill(2.0);
        assert_eq!(uniform(&copy.to_vec()?), 1.0);
        stream.copy_to_device(&numbers, &mut copy)?;
        numbers.fill(3.0);
        let mut graph = stream.capture(copy, |capture, copy| capture.copy_to_device(&numbers, copy))?;
        numbers.fill(4.0);
        assert_eq!(uniform(&graph.memory().to_vec()?), 2.0);
        graph.launch()?;
        drop(numbers);
        assert_eq!(uniform(&graph.memory().to_vec()?), 3.0);
        Ok(())
    });
}
