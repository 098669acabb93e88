//! `#[constant]` stands on statics.

#![allow(unused)]

use gpu_std::{Constant, constant};

#[constant]
const TABLE: Constant<u32> = Constant::new(0);

#[constant]
static mut CHANGING: Constant<u32> = Constant::new(0);

#[constant(64)]
static SIZED: Constant<u32> = Constant::new(0);

#[constant]
fn function() {}

fn main() {}
