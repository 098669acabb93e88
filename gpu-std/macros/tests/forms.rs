//! The forms in which a kernel can be written.

#![allow(missing_docs, unused)]
// As written by macros, and by hands in a hurry.
#![allow(clippy::mixed_attributes_style, clippy::non_minimal_cfg, clippy::unused_unit)]

use gpu_std::{host::Body, prelude::*};

const SIZE: u32 = 8;

const fn product<const A: u32, const B: u32>() -> u32 {
    A * B
}

/// What a module says about its kernels.
mod visibilities {
    use super::*;

    /// Documented,
    /// in two lines.
    #[kernel]
    pub(crate) fn in_crate(x: u32) {}

    #[kernel]
    pub(in crate::visibilities) fn in_path(x: u32) {}

    #[kernel]
    pub(super) fn in_parent() {}
}

#[deprecated = "for the test"]
#[cfg(all())]
#[allow(clippy::needless_range_loop)]
#[kernel]
fn attributes(#[allow(unused_mut)] mut x: u32) {
    #![allow(unused_variables)]
    x += 1;
}

#[kernel]
#[cfg(any())]
fn left_out(x: NoSuchType) {}

#[kernel]
fn r#match(r#type: u32, mut r#in: PerThread<f32>) {
    for (_, element) in &mut r#in {
        *element = r#type as f32;
    }
}

/// # Safety
/// Nothing is asked for.
#[kernel]
unsafe fn pointers(x: *const f32, y: *mut f32) {}

#[kernel]
#[rustfmt::skip]
fn trailing_comma(x: &[f32], y: (PerThread<f32>),) -> () {}

#[kernel]
fn lengths(
    x: [f32; { SIZE as usize * 2 }],
    y: &[[f32; size_of::<[u32; 2]>()]],
    z: Shared<f32, { SIZE as usize }>,
) {
}

#[kernel]
fn lifetimes_left_out(
    x: &'_ [f32],
    y: gpu_std::PerThread<'_, f32>,
    front: Shared<f32, 8>,
    back: Shared<'_, f32, 8>,
) {
    let (mut a, mut b) = (front, back);
    (a, b) = (b, a);
}

macro_rules! kernels {
    ($($(#[$attribute:meta])* $visibility:vis $name:ident($argument:ident: $type:ty, $block:expr) $body:block)*) => {
        $(
            $(#[$attribute])*
            #[kernel(block = $block)]
            $visibility fn $name($argument: $type, list: &[$type], each: PerThread<$type>) $body
        )*
    };
}

kernels! {
    /// Written by a macro.
    pub made_f32(x: f32, 32) {}
    made_u32(x: u32, SIZE * 2) {}
    pub(crate) made_array(x: [u8; 4], product::<2, 4>()) {}
}

macro_rules! kernel_of {
    ($name:ident, $slice:ty, $output:ty, $tile:ty) => {
        #[kernel]
        fn $name(x: $slice, y: $output, tile: $tile) {}
    };
}

kernel_of!(made_whole, &[f32], PerThread<f32>, Shared<f32, 32>);

#[kernel(block = (SIZE, 4), max_registers = if cfg!(debug_assertions) { 32 } else { 64 }, dims = { 2 },)]
fn contract() {}

#[kernel(block = (if SIZE > 4 { SIZE } else { 4 }, product::<2, 1>(), (1 + 1) * 2))]
fn computed_block() {}

#[kernel(block = (SIZE + 8) * 2, min_blocks_per_sm = match SIZE { 8 => 2, _ => 1 })]
fn parenthesis() {}

#[kernel(block = (64))]
fn one_extent() {}

fn block<K: Body>(_: K) -> [u32; 3] {
    K::CONTRACT.block
}

#[test]
fn names() {
    fn name<K: Body>(_: K) -> &'static str {
        K::NAME
    }
    assert_eq!(name(r#match()), "forms::match");
    assert_eq!(name(visibilities::in_crate()), "forms::visibilities::in_crate");
    assert_eq!(name(made_f32()), "forms::made_f32");
}

#[test]
fn blocks() {
    assert_eq!(block(lengths()), [0; 3]);
    assert_eq!(block(contract()), [8, 4, 1]);
    assert_eq!(block(computed_block()), [8, 2, 4]);
    assert_eq!(block(parenthesis()), [32, 1, 1]);
    assert_eq!(block(one_extent()), [64, 1, 1]);
    assert_eq!(block(made_f32()), [32, 1, 1]);
    assert_eq!(block(made_u32()), [16, 1, 1]);
    assert_eq!(block(made_array()), [8, 1, 1]);
}
