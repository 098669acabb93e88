//! Whether all processes start the same collectives. Nothing else would keep one that does another from waiting without end, or MPI and NCCL from
//! writing beyond a slice.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Comm;
use crate::{Error, Result, transport::Operation};

/// The collectives of a group, as all processes have to have them.
pub(crate) struct Agreement {
    count: u64,
    /// Of kinds, reductions and roots.
    what: DefaultHasher,
    /// Of numbers of bytes.
    bytes: DefaultHasher,
    description: Vec<String>,
}

impl Agreement {
    /// On something that is no operation of a group. Waits for all processes.
    pub(crate) fn reach_on(comm: &Comm, what: &str) -> Result<()> {
        let _alone = comm.start_alone();
        let (mut hasher, bytes) = (DefaultHasher::new(), DefaultHasher::new());
        what.hash(&mut hasher);
        Self { count: 1, what: hasher, bytes, description: vec![what.to_owned()] }.reach(comm)
    }

    /// Whether there is anything to agree on.
    pub(crate) fn is_needed(&self) -> bool {
        self.count > 0
    }

    pub(crate) fn of(operations: &[Operation<'_>]) -> Self {
        // Its keys are the same in all processes.
        let (what, bytes) = (DefaultHasher::new(), DefaultHasher::new());
        let mut agreement = Self { count: 0, what, bytes, description: Vec::new() };
        for operation in operations {
            let (what, bytes) = match operation {
                Operation::AllReduce { number, op, slice } => {
                    ((0, Some(*number as u8), Some(*op), 0), slice.len())
                }
                Operation::Broadcast { root, slice } => ((1, None, None, *root), slice.len()),
                Operation::AllGather { from, .. } => ((2, None, None, 0), from.len()),
                Operation::ReduceScatter { number, op, to, .. } => {
                    ((3, Some(*number as u8), Some(*op), 0), to.len())
                }
                Operation::Send { .. } | Operation::Receive { .. } => continue,
            };
            agreement.count += 1;
            what.hash(&mut agreement.what);
            bytes.hash(&mut agreement.bytes);
            agreement.description.push(operation.describe());
        }
        agreement
    }

    /// Waits for all processes, and compares, if there are collectives.
    pub(crate) fn reach(self, comm: &Comm) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let this = self.description.join(", ");
        let (what, bytes) = (self.what.finish(), self.bytes.finish());
        let own = [self.count, what, bytes];
        let [count, largest_what, largest_bytes, less, smallest_what, smallest_bytes] =
            comm.largest(&this, [own[0], own[1], own[2], !own[0], !own[1], !own[2]])?;
        // All processes find the same.
        let difference = if count != !less {
            "how many they are"
        } else if largest_what != !smallest_what {
            "the operation, the type of its numbers, the reduction or the root"
        } else if largest_bytes != !smallest_bytes {
            "the number of elements"
        } else {
            return Ok(());
        };
        Err(comm.fail(Error::Mismatch { rank: comm.rank(), this, difference }))
    }
}
