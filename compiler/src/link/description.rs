//! Descriptions that gpu-std leaves in device code, of kernels and of constants: a pointer to what is described, the version of gpu-std's ABI, then
//! what its kind has, with the signature last.

use super::LinkError;
use crate::llvm::Value;

/// A description, without its version, which is this linker's.
pub(super) struct Description<'c> {
    /// What is described.
    pub(super) of: Value<'c>,
    pub(super) bytes: Vec<u8>,
}

impl<'c> Description<'c> {
    /// Reads the initialiser of a static: a struct of the pointer, then bytes; padding behind them is undefined.
    pub(super) fn read(global: Value<'c>) -> Result<Self, LinkError> {
        let unreadable = || LinkError::Description { symbol: global.name() };
        let mut of = None;
        let mut bytes = Vec::new();
        for part in global.initializer().ok_or_else(unreadable)?.operands() {
            if part.is_function() || part.is_global_variable() {
                of = Some(part);
            } else if let Some(data) = part.constant_bytes() {
                bytes.extend(data);
            }
        }
        let (version, rest) = bytes.split_first_chunk().ok_or_else(unreadable)?;
        match u32::from_le_bytes(*version) {
            gpukernel_abi::VERSION => Ok(Self { of: of.ok_or_else(unreadable)?, bytes: rest.to_vec() }),
            found => Err(LinkError::AbiVersion { found, expected: gpukernel_abi::VERSION }),
        }
    }
}

/// The path in the first line of a signature, and the other lines.
pub(super) fn signature(text: &[u8]) -> Option<(String, Vec<String>)> {
    let mut lines = std::str::from_utf8(text).ok()?.trim_end_matches('\0').split('\n').map(str::to_owned);
    Some((lines.next()?, lines.collect()))
}
