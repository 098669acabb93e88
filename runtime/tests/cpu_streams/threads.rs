//! Threads of the program, of rayon, and of streams.

use std::{fs, thread};

use gpukernel::{Result, for_each};

use crate::{
    add, add_other,
    again::{again, is_inner, succeeded},
    common::on_the_cpu,
};

/// Enough for many pieces.
const LEN: usize = 1 << 18;

/// A pool of one thread, which waits for a kernel of many blocks: the blocks run elsewhere.
#[test]
fn tasks_of_rayon_wait_for_kernels() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        on_the_cpu(|device, module| {
            let mut y = device.zeroed::<u32>(LEN)?;
            for _ in 0..3 {
                module.launch(add, for_each(LEN), (1, &mut y))?;
                device.synchronize()?;
            }
            assert_eq!(y.to_vec()?, vec![3; LEN]);
            Ok(())
        });
    });
}

/// Tasks that wait, as many as there are threads and more: none of them may come to wait inside of the kernel that it waits for.
#[test]
fn many_tasks_of_rayon_launch_and_wait() {
    on_the_cpu(|device, module| {
        use rayon::prelude::*;
        let results: Vec<Result<()>> = (0..64)
            .into_par_iter()
            .map(|_| {
                let stream = device.stream()?;
                let mut y = stream.zeroed::<u32>(LEN / 8)?;
                for _ in 0..4 {
                    stream.launch(module, add, for_each(LEN / 8), (1, &mut y))?;
                    stream.synchronize()?;
                }
                assert!(y.to_vec()?.iter().all(|y| *y == 4));
                Ok(())
            })
            .collect();
        results.into_iter().collect()
    });
}

#[test]
fn threads_share_a_device_and_what_they_read() {
    on_the_cpu(|device, module| {
        let x = device.filled(5000, 2_u32)?;
        let shared = device.stream()?;
        thread::scope(|scope| {
            let threads = [(); 6].map(|()| {
                scope.spawn(|| -> Result<()> {
                    let own = device.thread_stream()?;
                    let mut y = own.zeroed::<u32>(5000)?;
                    for round in 0..60 {
                        let stream = if round % 3 == 0 { &shared } else { &own };
                        stream.launch(module, add_other, for_each(5000), (&x, &mut y))?;
                        if round % 7 == 0 {
                            assert!(y.to_vec()?.iter().all(|y| *y == 2 * (round + 1)));
                            drop(stream.upload(&[1, 2, 3])?);
                        }
                    }
                    assert!(y.to_vec()?.iter().all(|y| *y == 120));
                    Ok(())
                })
            });
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })
    });
}

/// How many threads of streams there are.
fn count() -> usize {
    of_each_thread("comm").filter(|name| name.starts_with("gpukernel-strea")).count()
}

/// What Linux tells in a file of each thread of the process, but for those that end meanwhile.
pub(crate) fn of_each_thread(file: &str) -> impl Iterator<Item = String> {
    let tasks = fs::read_dir("/proc/self/task").expect("Linux lists threads");
    tasks.flatten().filter_map(move |task| fs::read_to_string(task.path().join(file)).ok())
}

/// A stream has a thread when it has work, until it is dropped and its work is done.
#[test]
#[cfg(target_os = "linux")]
fn streams_without_work_have_no_threads() {
    // Without other tests, which leak streams.
    if !is_inner() {
        return succeeded(&again(&[]));
    }
    on_the_cpu(|device, _| {
        let streams = (0..100).map(|_| device.stream()).collect::<Result<Vec<_>>>()?;
        let events = streams.iter().map(|stream| stream.record()).collect::<Result<Vec<_>>>()?;
        for (stream, event) in streams.iter().zip(&events) {
            device.default_stream().wait(event)?;
            stream.synchronize()?;
            assert_eq!(stream.upload(&[1])?.to_vec()?, [1]);
        }
        let before = count();
        assert!(before <= 1, "{before}");
        // Buffers know who used them, which keeps no thread.
        let mut buffers = Vec::new();
        for stream in &streams[..10] {
            buffers.push(stream.filled(100, 1)?);
        }
        // A thread names itself when it starts.
        while count() < 10 {
            thread::yield_now();
        }
        drop(streams);
        device.synchronize()?;
        while count() > before {
            thread::yield_now();
        }
        for buffer in &mut buffers {
            buffer.fill(2)?;
            assert_eq!(buffer.to_vec()?, [2; 100]);
        }
        Ok(())
    });
}

#[test]
fn a_stream_may_be_dropped_by_its_own_callback() {
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let (held, own) = (stream.hold()?, stream.clone());
        stream.callback(move || drop(own))?;
        let event = stream.record()?;
        drop(stream);
        drop(held);
        event.synchronize()
    });
}
