//! Collectives.

use std::fmt::Debug;

use gpukernel::Device;
use gpukernel_communicator::{Communicator, ReduceOp, Reducible};

use crate::start::{on_every_device, on_ranks};

fn reduces<T: Reducible + PartialEq + Debug>(
    device: &Device,
    communicator: &Communicator,
    number: impl Fn(usize) -> T,
) {
    let size = communicator.size();
    let own = [communicator.rank() + 1, 2, size - communicator.rank()];
    for (op, expected) in [
        (ReduceOp::Sum, [size * (size + 1) / 2, 2 * size, size * (size + 1) / 2]),
        (ReduceOp::Product, [(1..=size).product(), 1 << size, (1..=size).product()]),
        (ReduceOp::Min, [1, 2, 1]),
        (ReduceOp::Max, [size, 2, size]),
    ] {
        let mut slice = device.upload(&own.map(&number)).unwrap();
        communicator.all_reduce(&mut slice, op).unwrap();
        assert_eq!(slice.to_vec().unwrap(), expected.map(&number), "{op:?}");
    }
    // Each process gets the sum of one number: of those that all have for it.
    let all: Vec<T> = (0..size).map(|to| number(to + communicator.rank())).collect();
    let (all, mut own) = (device.upload(&all).unwrap(), device.upload(&[number(0)]).unwrap());
    communicator.reduce_scatter(&all, &mut own, ReduceOp::Max).unwrap();
    assert_eq!(own.to_vec().unwrap(), [number(communicator.rank() + size - 1)]);
}

#[test]
fn reduce_every_type_of_number() {
    on_ranks(|world| {
        on_every_device(world, |device, communicator| {
            reduces(device, communicator, |n| n as i8);
            reduces(device, communicator, |n| n as u8);
            reduces(device, communicator, |n| n as i32);
            reduces(device, communicator, |n| n as u32);
            reduces(device, communicator, |n| n as i64);
            reduces(device, communicator, |n| n as u64);
            reduces(device, communicator, |n| n as f32);
            reduces(device, communicator, |n| n as f64);
        });
        Ok(())
    });
}

#[test]
fn move_elements_between_all() {
    on_ranks(|world| {
        on_every_device(world, |device, communicator| {
            let (rank, size) = (communicator.rank(), communicator.size());
            // Short and long messages take different ways in MPI.
            for len in [1, 1000, 300_000] {
                let own = device.filled(len, [rank as u16, 7]).unwrap();
                let mut all = device.zeroed::<[u16; 2]>(len * size).unwrap();
                communicator.all_gather(&own, &mut all).unwrap();
                let all = all.to_vec().unwrap();
                assert!(all.chunks(len).enumerate().all(|(from, part)| part == vec![[from as u16, 7]; len]));

                for root in 0..size {
                    let mut slice = device.filled(len, rank as f64).unwrap();
                    communicator.broadcast(&mut slice[..len], root).unwrap();
                    assert_eq!(slice.to_vec().unwrap(), vec![root as f64; len]);
                }
            }
            communicator.barrier().unwrap();
        });
        Ok(())
    });
}

#[test]
fn slices_without_elements_and_groups_without_operations() {
    on_ranks(|world| {
        on_every_device(world, |device, communicator| {
            let (from, mut to) = (device.zeroed::<f32>(0).unwrap(), device.zeroed::<f32>(0).unwrap());
            communicator.all_gather(&from, &mut to).unwrap();
            communicator.all_reduce(&mut to, ReduceOp::Sum).unwrap();
            communicator.broadcast(&mut to, 0).unwrap();
            communicator.start(|_| Ok(())).unwrap().wait().unwrap();
        });
        Ok(())
    });
}

#[test]
fn several_collectives_in_a_group_and_several_groups_at_once() {
    on_ranks(|world| {
        on_every_device(world, |device, communicator| {
            let size = communicator.size();
            let mut sum = device.filled(100, 1_u32).unwrap();
            let mut largest = device.filled(3, communicator.rank() as f32).unwrap();
            let own = device.filled(2, communicator.rank() as u8).unwrap();
            let mut all = device.zeroed::<u8>(2 * size).unwrap();
            let first = communicator.start(|group| {
                group.all_reduce(&mut sum, ReduceOp::Sum)?;
                group.all_reduce(&mut largest, ReduceOp::Max)
            });
            let mut first = first.unwrap();
            let second = communicator.start(|group| group.all_gather(&own, &mut all)).unwrap();
            // Not in the order in which they were started.
            second.wait().unwrap();
            while !first.is_done().unwrap() {
                std::thread::yield_now();
            }
            first.wait().unwrap();
            assert_eq!(sum.to_vec().unwrap(), [size as u32; 100]);
            assert_eq!(largest.to_vec().unwrap(), [size as f32 - 1.0; 3]);
            let expected: Vec<u8> = (0..size as u8).flat_map(|rank| [rank, rank]).collect();
            assert_eq!(all.to_vec().unwrap(), expected);
        });
        Ok(())
    });
}

/// Work on other streams comes before and after, by the memory that it uses.
#[test]
fn work_of_streams_is_ordered_with_collectives() {
    on_ranks(|world| {
        on_every_device(world, |device, communicator| {
            let (stream, len) = (device.stream().unwrap(), 1 << 18);
            let mut sums = stream.filled(len, 1_u64).unwrap();
            for round in 0..4_u32 {
                communicator.all_reduce(&mut sums, ReduceOp::Sum).unwrap();
                let copy = {
                    let mut copy = stream.zeroed::<u64>(len).unwrap();
                    stream.copy(&sums, &mut copy).unwrap();
                    copy
                };
                let largest = communicator.start(|group| group.all_reduce(&mut sums, ReduceOp::Max));
                largest.unwrap().detach().unwrap();
                let expected = (communicator.size() as u64).pow(round + 1);
                assert!(copy.to_vec().unwrap().iter().all(|&sum| sum == expected));
            }
        });
        Ok(())
    });
}
