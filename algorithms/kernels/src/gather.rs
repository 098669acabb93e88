//! Elements by their numbers.

use gpu_std::prelude::*;

/// Collects elements, each of which has `parts` parts, by their numbers: as many as `limit` says, if it says something.
#[kernel]
pub fn gather<P: DeviceCopy>(from: &[P], parts: u32, indices: &[u32], limit: &[u64], to: PerThread<P>) {
    let limit = limit.first().copied().unwrap_or(u64::MAX);
    let parts = parts.max(1);
    for (i, to) in to {
        // A position that 32 bits hold is divided faster.
        let (element, part) = match u32::try_from(i) {
            Ok(i) => ((i / parts) as usize, (i % parts) as usize),
            Err(_) => (i / parts as usize, i % parts as usize),
        };
        if element as u64 >= limit {
            return;
        }
        let found = indices.get(element).and_then(|index| from.get(*index as usize * parts as usize + part));
        if let Some(found) = found {
            *to = *found;
        }
    }
}

/// Numbers elements.
#[kernel]
pub fn number(indices: PerThread<u32>) {
    for (i, index) in indices {
        *index = i as u32;
    }
}
