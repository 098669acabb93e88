//! After the optimiser: copies of small local variables become loads and stores.
//!
//! rustc copies a struct by `memcpy`. A local variable that is only copied in and out has no type that the optimiser could keep it
//! in registers as, so it stays in local memory: such as a 16-byte struct that is either read or a constant
//! (`bodies.get(i).copied().unwrap_or(ZERO)`). Pieces of a known type let it become registers.
//!
//! It relies on what `llvm.memcpy` promises: both sides are the same memory or have none in common, so that a piece may be written before
//! the next is read, and are aligned as the call says. Copies that are volatile or of unknown length are left.
//!
//! A piece of which one byte is poison is poison as a whole for LLVM, although the copy of the other bytes is not. LLVM takes the same
//! liberty where its own instcombine makes a load and a store of a copy of up to 8 bytes: it has no type for bytes that are each
//! something else (LLVM language reference, "Poison Values"), and looks through such pairs.
//!
//! Not before: pieces are integers, and the optimiser knows less of a pointer that was copied as one.

use crate::llvm::{CopyPart, Module};

/// Longer copies are left to LLVM, which makes loops of those beyond 128 bytes.
const MAX_BYTES: u64 = 64;

/// Replaces the small copies from and to local variables. Whether there were any.
pub(super) fn split_copies(module: &Module<'_>) -> bool {
    let mut any = false;
    for function in module.functions() {
        for instruction in function.instructions() {
            let Some(copy) = instruction.plain_copy() else { continue };
            if copy.bytes <= MAX_BYTES
                && instruction.operands().take(2).any(|place| place.is_in_local_variable())
            {
                module.replace_copy(instruction, &pieces(copy.bytes, copy.align));
                any = true;
            }
        }
    }
    any
}

/// What a copy of so many bytes, aligned like that, is made of: the largest pieces that are aligned.
fn pieces(bytes: u64, align: u64) -> Vec<CopyPart> {
    let mut pieces = Vec::new();
    let mut offset = 0;
    while offset < bytes {
        let fits = [16, 8, 4, 2, 1].into_iter().find(|&size| size <= align && offset + size <= bytes);
        let size = fits.unwrap_or(1);
        pieces.push(CopyPart { offset, bytes: size });
        offset += size;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_large_as_alignment_allows() {
        let sizes = |bytes, align| pieces(bytes, align).iter().map(|piece| piece.bytes).collect::<Vec<_>>();
        assert_eq!(sizes(16, 16), [16]);
        assert_eq!(sizes(12, 4), [4, 4, 4]);
        assert_eq!(sizes(24, 8), [8, 8, 8]);
        assert_eq!(sizes(24, 16), [16, 8]);
        assert_eq!(sizes(7, 4), [4, 2, 1]);
        assert_eq!(sizes(3, 1), [1, 1, 1]);
        assert_eq!(sizes(0, 1), [] as [u64; 0]);
        assert_eq!(pieces(24, 8)[2].offset, 16);
    }
}
