//! Values that lanes exchange.

use bytemuck::{AnyBitPattern, NoUninit};

use crate::DeviceCopy;

/// A value that lanes of a warp exchange: plain data without padding for which every bit pattern is a valid value.
///
/// Every bit pattern has to be valid because on a GPU the value read from a lane that has ended is arbitrary (PTX ISA,
/// `shfl.sync`); there is no padding because values are exchanged as whole words. Implemented for numbers, arrays of them,
/// and structs that derive [`DeviceCopy`] and `bytemuck::Pod`.
#[diagnostic::on_unimplemented(
    message = "lanes of a warp cannot exchange values of type `{Self}`",
    label = "not plain data without padding of which any bits are a value",
    note = "numbers, arrays of them, and structs that derive `DeviceCopy`, `bytemuck::Zeroable` and `bytemuck::Pod` can; for `bool` there are `any`, `all` and `ballot`"
)]
pub trait WarpElement: DeviceCopy + AnyBitPattern + NoUninit {}

// Without it rustc would suggest `Pod`, which is how bytemuck implements two of them.
#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + AnyBitPattern + NoUninit> WarpElement for T {}
