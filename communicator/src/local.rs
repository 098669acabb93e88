//! A communicator of one process: copies on the device.

use std::collections::VecDeque;

use gpukernel::{Device, Event, Stream};

use crate::{
    Error, Result,
    transport::{InFlight, Operation, Transport, Via},
};

pub(crate) struct Local {
    stream: Stream,
}

impl Local {
    pub(crate) fn new(device: &Device) -> Result<Self> {
        Ok(Self { stream: device.stream()? })
    }
}

impl Transport for Local {
    fn via(&self) -> Via {
        Via::Local
    }

    fn start<'a>(&'a self, operations: Vec<Operation<'a>>) -> Result<Box<dyn InFlight + 'a>> {
        let (mut sent, mut received) = (VecDeque::new(), VecDeque::new());
        for operation in operations {
            match operation {
                // What all of one process have is what it has.
                Operation::AllReduce { .. } | Operation::Broadcast { .. } => {}
                Operation::AllGather { from, to } | Operation::ReduceScatter { from, to, .. } => {
                    self.stream.copy(from, to)?;
                }
                Operation::Send { .. } => sent.push_back(operation),
                Operation::Receive { .. } => received.push_back(operation),
            }
        }
        loop {
            match (sent.pop_front(), received.pop_front()) {
                (Some(Operation::Send { from, .. }), Some(Operation::Receive { to, .. })) => {
                    if from.len() != to.len() {
                        let (sent, received) = (from.len(), to.len());
                        return Err(Error::MessageLength { from: 0, to: 0, sent, received });
                    }
                    self.stream.copy(from, to)?;
                }
                (Some(alone), _) | (None, Some(alone)) => {
                    return Err(Error::NoPartner { what: alone.describe() });
                }
                (None, None) => break,
            }
        }
        Ok(Box::new(Copies(self.stream.record()?)))
    }

    fn barrier(&self) -> Result<()> {
        Ok(())
    }
}

/// Copies that were queued.
struct Copies(Event);

impl InFlight for Copies {
    fn is_done(&mut self) -> Result<bool> {
        Ok(self.0.is_done()?)
    }

    fn wait(&mut self) -> Result<()> {
        Ok(self.0.synchronize()?)
    }

    fn detach(&mut self) -> Result<()> {
        Ok(())
    }
}
