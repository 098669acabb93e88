//! A communicator of one process, as users use it. Runs on every device.
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::mem;

use gpukernel::Device;
use gpukernel_communicator::{Communicator, Error, ReduceOp, Via};

fn on_every_device(test: impl Fn(&Device, &Communicator)) {
    for device in gpukernel::devices().unwrap() {
        let communicator = Communicator::single(&device).unwrap();
        assert_eq!((communicator.rank(), communicator.size()), (0, 1));
        assert_eq!((communicator.device(), communicator.via()), (&device, Via::Local));
        test(&device, &communicator);
    }
}

#[test]
fn collectives_of_one_are_copies() {
    on_every_device(|device, communicator| {
        let numbers = device.upload(&[3_i32, 1, 2]).unwrap();
        let mut others = device.zeroed(3).unwrap();
        communicator.all_gather(&numbers, &mut others).unwrap();
        assert_eq!(others.to_vec().unwrap(), [3, 1, 2]);
        others.fill(0).unwrap();
        communicator.reduce_scatter(&numbers, &mut others, ReduceOp::Max).unwrap();
        communicator.all_reduce(&mut others, ReduceOp::Product).unwrap();
        communicator.broadcast(&mut others, 0).unwrap();
        communicator.barrier().unwrap();
        assert_eq!(others.to_vec().unwrap(), [3, 1, 2]);
    });
}

#[test]
fn messages_to_oneself_are_matched_in_order() {
    on_every_device(|device, communicator| {
        let (a, b) = (device.upload(&[1_u8, 2]).unwrap(), device.upload(&[[0.5_f64, 1.5]]).unwrap());
        let (mut to_a, mut to_b) = (device.zeroed::<u8>(2).unwrap(), device.zeroed::<[f64; 2]>(1).unwrap());
        let pending = communicator.start(|group| {
            assert_eq!((group.rank(), group.size()), (0, 1));
            group.send(&a, 0)?;
            group.receive(&mut to_a, 0)?;
            group.receive(&mut to_b, 0)?;
            group.send(&b, 0)
        });
        pending.unwrap().wait().unwrap();
        assert_eq!((to_a.to_vec().unwrap(), to_b.to_vec().unwrap()), (vec![1, 2], vec![[0.5, 1.5]]));
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    on_every_device(|device, communicator| {
        let (two, mut three) = (device.zeroed::<u32>(2).unwrap(), device.zeroed::<u32>(3).unwrap());
        let error = communicator.all_gather(&two, &mut three).unwrap_err();
        assert!(matches!(error, Error::Length { found: 3, expected: 2, .. }), "{error}");
        let error = communicator.broadcast(&mut three, 1).unwrap_err();
        assert!(matches!(error, Error::NoSuchRank { rank: 1, size: 1 }), "{error}");
        let error = communicator.send(&two, 0).unwrap_err().to_string();
        assert!(
            error.starts_with("send of 8 bytes to rank 0, which is this process, has no partner"),
            "{error}"
        );
        let error = communicator.receive(&mut three, 0).unwrap_err();
        assert!(matches!(error, Error::NoPartner { .. }), "{error}");
        let group = communicator.start(|group| {
            group.send(&two, 0)?;
            group.receive(&mut three, 0)
        });
        let error = group.unwrap_err();
        assert!(matches!(error, Error::MessageLength { sent: 8, received: 12, .. }), "{error}");
        // Nothing of that was done, and the communicator goes on.
        communicator.all_reduce(&mut three, ReduceOp::Sum).unwrap();
    });
}

#[test]
fn leaked_operations_leave_their_slices_usable() {
    on_every_device(|device, communicator| {
        let from = device.filled(1000, 7_u32).unwrap();
        let mut to = device.zeroed::<u32>(1000).unwrap();
        mem::forget(communicator.start(|group| group.all_gather(&from, &mut to)).unwrap());
        to.fill(1).unwrap();
        assert_eq!(to.to_vec().unwrap(), [1; 1000]);
        drop(from);
        // In another order than they were made.
        let pending = communicator.start(|group| group.all_reduce(&mut to, ReduceOp::Sum)).unwrap();
        drop(pending);
        communicator.start(|group| group.all_reduce(&mut to, ReduceOp::Sum)).unwrap().detach().unwrap();
        drop(to);
    });
}

#[test]
fn slices_without_elements_move_nothing() {
    on_every_device(|device, communicator| {
        let (from, mut to) = (device.zeroed::<f32>(0).unwrap(), device.zeroed::<f32>(0).unwrap());
        communicator.all_gather(&from, &mut to).unwrap();
        communicator.all_reduce(&mut to, ReduceOp::Min).unwrap();
        communicator.start(|_| Ok(())).unwrap().wait().unwrap();
    });
}
