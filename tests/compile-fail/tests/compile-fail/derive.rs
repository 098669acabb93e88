#![allow(unused)]

use gpu_std::prelude::*;

#[derive(Clone, Copy, DeviceCopy)]
struct NoLayout {
    x: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
enum NoLayoutEither {
    A,
}

#[derive(DeviceCopy)]
#[repr(C)]
struct NotCopy {
    x: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Borrows {
    x: &'static f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Generic<T> {
    x: (T, T),
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C, packed)]
struct Packed {
    x: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
union Either {
    x: f32,
}

fn main() {}
