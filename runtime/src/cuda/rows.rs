//! Copies of rows, in device memory or the host's.

use std::{ffi::c_void, ptr};

use cudarc::driver::sys::{self, CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype};

use super::CudaStream;
use crate::{Result, view::Rows};

/// A side of a copy of rows.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Device(usize),
    Host(*mut u8),
}

impl Side {
    fn kind(self) -> CUmemorytype {
        match self {
            Self::Device(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE,
            Self::Host(_) => CUmemorytype::CU_MEMORYTYPE_HOST,
        }
    }

    fn device(self) -> CUdeviceptr {
        if let Self::Device(address) = self { address as CUdeviceptr } else { 0 }
    }

    fn host(self) -> *mut c_void {
        if let Self::Host(start) = self { start.cast() } else { ptr::null_mut() }
    }

    fn after(self, bytes: usize) -> Self {
        match self {
            Self::Device(address) => Self::Device(address + bytes),
            Self::Host(start) => Self::Host(start.wrapping_add(bytes)),
        }
    }
}

/// Queues a copy of rows.
///
/// # Safety
/// At both sides are these rows, as many and as long, of memory that the stream may use.
pub(super) unsafe fn copy_rows(
    stream: &CudaStream,
    (to, to_rows): (Side, Rows),
    (from, from_rows): (Side, Rows),
) -> Result<()> {
    // `CU_DEVICE_ATTRIBUTE_MAX_PITCH` of every GPU so far.
    const MAX_PITCH: usize = i32::MAX as usize;
    let copy = |to: Side, to_rows: Rows, from: Side, from_rows: Rows| {
        let copy = CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: from.kind(),
            srcHost: from.host(),
            srcDevice: from.device(),
            srcArray: ptr::null_mut(),
            reserved0: ptr::null_mut(),
            srcPitch: from_rows.pitch_bytes,
            srcHeight: from_rows.layer_pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: to.kind(),
            dstHost: to.host(),
            dstDevice: to.device(),
            dstArray: ptr::null_mut(),
            reserved1: ptr::null_mut(),
            dstPitch: to_rows.pitch_bytes,
            dstHeight: to_rows.layer_pitch,
            WidthInBytes: to_rows.row_bytes,
            Height: to_rows.rows,
            Depth: to_rows.layers,
        };
        // SAFETY: the rows are there, as the caller promises.
        stream.device().check("cuMemcpy3DAsync", unsafe { sys::cuMemcpy3DAsync_v2(&copy, stream.raw()) })
    };
    if to_rows.pitch_bytes.max(from_rows.pitch_bytes) <= MAX_PITCH {
        return copy(to, to_rows, from, from_rows);
    }
    // One by one.
    let row = |rows: Rows| Rows {
        rows: 1,
        layers: 1,
        pitch_bytes: rows.row_bytes.min(MAX_PITCH),
        layer_pitch: 1,
        ..rows
    };
    for (to_offset, from_offset) in to_rows.offsets().zip(from_rows.offsets()) {
        // And of those that are longer, so many bytes each.
        for start in (0..to_rows.row_bytes).step_by(MAX_PITCH) {
            let row_bytes = (to_rows.row_bytes - start).min(MAX_PITCH);
            let piece = |rows: Rows| Rows { row_bytes, pitch_bytes: row_bytes, ..row(rows) };
            copy(
                to.after(to_offset + start),
                piece(to_rows),
                from.after(from_offset + start),
                piece(from_rows),
            )?;
        }
    }
    Ok(())
}
