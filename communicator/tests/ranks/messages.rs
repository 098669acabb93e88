//! Messages.

use gpukernel_communicator::Error;

use crate::start::{on_every_device, on_ranks};

/// Everyone sends first, also long messages, for which MPI waits until they are received.
#[test]
fn neighbours_in_a_ring_exchange_edges() {
    on_ranks(|world| {
        on_every_device(world, |device, communicator| {
            let (rank, size) = (communicator.rank(), communicator.size());
            let (before, after) = ((rank + size - 1) % size, (rank + 1) % size);
            for len in [1, 500_000] {
                let edge = device.filled(len, rank as u32).unwrap();
                let (mut from_before, mut from_after) =
                    (device.zeroed::<u32>(len).unwrap(), device.zeroed::<u32>(len).unwrap());
                let exchange = communicator.start(|group| {
                    group.send(&edge, after)?;
                    group.send(&edge, before)?;
                    group.receive(&mut from_before, before)?;
                    group.receive(&mut from_after, after)
                });
                // The edge is read by others meanwhile.
                assert_eq!(edge.to_vec().unwrap(), vec![rank as u32; len]);
                exchange.unwrap().wait().unwrap();
                assert_eq!(from_before.to_vec().unwrap(), vec![before as u32; len]);
                assert_eq!(from_after.to_vec().unwrap(), vec![after as u32; len]);
            }
        });
        Ok(())
    });
}

#[test]
fn messages_between_two_keep_their_order() {
    on_ranks(|world| {
        on_every_device(world, |device, communicator| {
            if communicator.size() == 1 {
                return;
            }
            // Others do something else meanwhile: nothing.
            match communicator.rank() {
                0 => {
                    for number in 0..20_i64 {
                        let message = device.filled(number as usize + 1, number).unwrap();
                        communicator.send(&message, 1).unwrap();
                    }
                }
                1 => {
                    for number in 0..20_i64 {
                        let mut message = device.zeroed::<i64>(number as usize + 1).unwrap();
                        communicator.receive(&mut message, 0).unwrap();
                        assert_eq!(message.to_vec().unwrap(), vec![number; number as usize + 1]);
                    }
                }
                _ => {}
            }
            communicator.barrier().unwrap();
        });
        Ok(())
    });
}

#[test]
fn a_rank_that_is_not_there_is_refused_before_anything_is_sent() {
    on_ranks(|world| {
        on_every_device(world, |device, communicator| {
            let (from, mut to) = (device.zeroed::<u8>(1).unwrap(), device.zeroed::<u8>(1).unwrap());
            let started = communicator.start(|group| {
                group.send(&from, 0)?;
                group.receive(&mut to, communicator.size())
            });
            assert!(matches!(started, Err(Error::NoSuchRank { .. })), "{started:?}");
            communicator.barrier().unwrap();
        });
        Ok(())
    });
}
