//! The functions of `benchmarks/cuda/device.cu`.

use std::{ffi::c_void, path::Path, ptr::null_mut};

use bytemuck::Zeroable;
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, DeviceSlice, RawArg, Stream};
use libloading::Library;

use crate::Result;

pub(crate) struct Cub(Library);

type Unary<T, U> = unsafe extern "C" fn(*mut c_void, *mut usize, *const T, *mut U, i64, *mut c_void) -> i32;
type Select = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *const u8,
    *mut u32,
    *mut u64,
    i64,
    *mut c_void,
) -> i32;
type Unique =
    unsafe extern "C" fn(*mut c_void, *mut usize, *const u32, *mut u32, *mut u64, i64, *mut c_void) -> i32;
type Pairs = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *mut u32,
    *const u32,
    *mut u32,
    i64,
    *mut c_void,
) -> i32;
type ByKey = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *mut u32,
    *const f32,
    *mut f32,
    *mut u64,
    i64,
    *mut c_void,
) -> i32;

impl Cub {
    pub(crate) fn load(path: &Path) -> Result<Self> {
        // SAFETY: nvcc made it; it does nothing when it is loaded but register its kernels.
        Ok(Self(unsafe { Library::new(path)? }))
    }

    /// # Safety
    /// `F` is the type of the function.
    unsafe fn function<F: Copy>(&self, name: &str) -> Result<F> {
        // SAFETY: as the caller promises.
        Ok(unsafe { *self.0.get::<F>(name.as_bytes())? })
    }

    /// Calls a function without memory, and returns how to call it with as much as it says.
    fn memory(
        stream: &Stream,
        call: impl FnOnce(*mut c_void, *mut usize, *mut c_void) -> i32,
    ) -> Result<(Buffer<u8>, usize)> {
        let mut bytes = 0;
        ok(call(null_mut(), &mut bytes, null_mut()))?;
        Ok((stream.zeroed(bytes)?, bytes))
    }

    pub(crate) fn unary<'a, T: DeviceCopy, U: DeviceCopy + Zeroable>(
        &self,
        stream: &'a Stream,
        name: &str,
        x: &'a DeviceSlice<T>,
        y: &'a mut DeviceSlice<U>,
    ) -> Result<impl FnMut() -> Result + use<'a, T, U>> {
        // SAFETY: the type of such functions.
        let function: Unary<T, U> = unsafe { self.function(name)? };
        let (from, to, n) = (x.as_ptr(), y.as_mut_ptr(), x.len() as i64);
        // SAFETY: the parameters of the function.
        let call = move |space, bytes, raw| unsafe { function(space, bytes, from, to, n, raw) };
        let (mut memory, mut bytes) = Self::memory(stream, call)?;
        Ok(move || {
            let space = memory.as_mut_ptr().cast();
            let args = [RawArg::slice(x), RawArg::slice_mut(y), RawArg::slice_mut(&mut memory)];
            // SAFETY: it queues its work on the stream.
            unsafe { stream.queue(&args, |raw| call(space, &mut bytes, raw)) }
                .map_err(Into::into)
                .and_then(ok)
        })
    }

    pub(crate) fn select<'a>(
        &self,
        stream: &'a Stream,
        (x, flags): (&'a DeviceSlice<u32>, &'a DeviceSlice<u8>),
        y: &'a mut DeviceSlice<u32>,
        count: &'a mut DeviceSlice<u64>,
    ) -> Result<impl FnMut() -> Result + use<'a>> {
        // SAFETY: its type.
        let function: Select = unsafe { self.function("select_u32")? };
        let (from, bits, to, number, n) =
            (x.as_ptr(), flags.as_ptr(), y.as_mut_ptr(), count.as_mut_ptr(), x.len() as i64);
        // SAFETY: the parameters of the function.
        let call = move |space, bytes, raw| unsafe { function(space, bytes, from, bits, to, number, n, raw) };
        let (mut memory, mut bytes) = Self::memory(stream, call)?;
        Ok(move || {
            let space = memory.as_mut_ptr().cast();
            let args = [
                RawArg::slice(x),
                RawArg::slice(flags),
                RawArg::slice_mut(y),
                RawArg::slice_mut(count),
                RawArg::slice_mut(&mut memory),
            ];
            // SAFETY: it queues its work on the stream.
            unsafe { stream.queue(&args, |raw| call(space, &mut bytes, raw)) }
                .map_err(Into::into)
                .and_then(ok)
        })
    }

    pub(crate) fn unique<'a>(
        &self,
        stream: &'a Stream,
        x: &'a DeviceSlice<u32>,
        y: &'a mut DeviceSlice<u32>,
        count: &'a mut DeviceSlice<u64>,
    ) -> Result<impl FnMut() -> Result + use<'a>> {
        // SAFETY: its type.
        let function: Unique = unsafe { self.function("unique_u32")? };
        let (from, to, number, n) = (x.as_ptr(), y.as_mut_ptr(), count.as_mut_ptr(), x.len() as i64);
        // SAFETY: the parameters of the function.
        let call = move |space, bytes, raw| unsafe { function(space, bytes, from, to, number, n, raw) };
        let (mut memory, mut bytes) = Self::memory(stream, call)?;
        Ok(move || {
            let space = memory.as_mut_ptr().cast();
            let args = [
                RawArg::slice(x),
                RawArg::slice_mut(y),
                RawArg::slice_mut(count),
                RawArg::slice_mut(&mut memory),
            ];
            // SAFETY: it queues its work on the stream.
            unsafe { stream.queue(&args, |raw| call(space, &mut bytes, raw)) }
                .map_err(Into::into)
                .and_then(ok)
        })
    }

    pub(crate) fn pairs<'a>(
        &self,
        stream: &'a Stream,
        (x, values): (&'a DeviceSlice<u32>, &'a DeviceSlice<u32>),
        (y, values_out): (&'a mut DeviceSlice<u32>, &'a mut DeviceSlice<u32>),
    ) -> Result<impl FnMut() -> Result + use<'a>> {
        // SAFETY: its type.
        let function: Pairs = unsafe { self.function("sort_pairs_u32")? };
        let (from, from_values, n) = (x.as_ptr(), values.as_ptr(), x.len() as i64);
        let (to, to_values) = (y.as_mut_ptr(), values_out.as_mut_ptr());
        // SAFETY: the parameters of the function.
        let call = move |space, bytes, raw| unsafe {
            function(space, bytes, from, to, from_values, to_values, n, raw)
        };
        let (mut memory, mut bytes) = Self::memory(stream, call)?;
        Ok(move || {
            let space = memory.as_mut_ptr().cast();
            let args = [
                RawArg::slice(x),
                RawArg::slice(values),
                RawArg::slice_mut(y),
                RawArg::slice_mut(values_out),
                RawArg::slice_mut(&mut memory),
            ];
            // SAFETY: it queues its work on the stream.
            unsafe { stream.queue(&args, |raw| call(space, &mut bytes, raw)) }
                .map_err(Into::into)
                .and_then(ok)
        })
    }

    pub(crate) fn by_key<'a>(
        &self,
        stream: &'a Stream,
        (x, values): (&'a DeviceSlice<u32>, &'a DeviceSlice<f32>),
        (y, values_out): (&'a mut DeviceSlice<u32>, &'a mut DeviceSlice<f32>),
        count: &'a mut DeviceSlice<u64>,
    ) -> Result<impl FnMut() -> Result + use<'a>> {
        // SAFETY: its type.
        let function: ByKey = unsafe { self.function("reduce_by_key_u32_f32")? };
        let (from, from_values, n) = (x.as_ptr(), values.as_ptr(), x.len() as i64);
        let (to, to_values, number) = (y.as_mut_ptr(), values_out.as_mut_ptr(), count.as_mut_ptr());
        // SAFETY: the parameters of the function.
        let call = move |space, bytes, raw| unsafe {
            function(space, bytes, from, to, from_values, to_values, number, n, raw)
        };
        let (mut memory, mut bytes) = Self::memory(stream, call)?;
        Ok(move || {
            let space = memory.as_mut_ptr().cast();
            let args = [
                RawArg::slice(x),
                RawArg::slice(values),
                RawArg::slice_mut(y),
                RawArg::slice_mut(values_out),
                RawArg::slice_mut(count),
                RawArg::slice_mut(&mut memory),
            ];
            // SAFETY: it queues its work on the stream.
            unsafe { stream.queue(&args, |raw| call(space, &mut bytes, raw)) }
                .map_err(Into::into)
                .and_then(ok)
        })
    }
}

fn ok(code: i32) -> Result {
    if code == 0 { Ok(()) } else { Err(format!("CUB returned the error {code} of CUDA's runtime").into()) }
}
