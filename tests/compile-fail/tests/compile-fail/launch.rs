//! Launches that do not fit their kernels.

#![allow(unused)]

use std::ops::{Deref, DerefMut};

use gpu_std::{
    host::{Kernel, RawSlice, RawView, Runtime, SafeKernel},
    prelude::*,
    view::layout::ViewLayout,
};

struct DeviceSlice<T>(T);

struct Buffer<T>(T);

impl<T> Deref for Buffer<T> {
    type Target = DeviceSlice<T>;
    fn deref(&self) -> &DeviceSlice<T> {
        unimplemented!()
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        unimplemented!()
    }
}

enum Mock {}

impl Runtime for Mock {
    type Slice<T: DeviceCopy> = DeviceSlice<T>;
    type View<'a, T: DeviceCopy, S: ViewLayout> = (&'a [T], S);
    type ViewMut<'a, T: DeviceCopy, S: ViewLayout> = (&'a mut [T], S);
    fn raw_slice<T: DeviceCopy>(_: &DeviceSlice<T>) -> RawSlice {
        unimplemented!()
    }
    fn raw_view<T: DeviceCopy, S: ViewLayout>(_: &(&[T], S)) -> RawView<S> {
        unimplemented!()
    }
    fn raw_view_mut<T: DeviceCopy, S: ViewLayout>(_: &(&mut [T], S)) -> RawView<S> {
        unimplemented!()
    }
}

fn launch<K: SafeKernel>(_: K, _: K::Args<'_, Mock>) {}
unsafe fn launch_unsafe<K: Kernel>(_: K, _: K::Args<'_, Mock>) {}

#[kernel]
fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {}

#[kernel]
unsafe fn raw(x: *const f32) {}

fn not_a_kernel() {}

fn main() {
    let (x, mut y) = (Buffer(1.0_f32), Buffer(1.0_f32));
    let z = Buffer(1_u32);

    launch(saxpy, (2.0, &x, &mut y));
    unsafe { launch_unsafe(raw, (&x,)) };

    launch(saxpy, (2_u32, &x, &mut y));
    launch(saxpy, (2.0, &z, &mut y));
    launch(saxpy, (2.0, &x));
    launch(saxpy, (2.0, &x, &y));
    launch(saxpy, (2.0, &mut y, &mut y));
    launch(raw, (&x,));
    launch(not_a_kernel, ());
    launch("saxpy", ());
}
