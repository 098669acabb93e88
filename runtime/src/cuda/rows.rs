//! Copies of rows, in device memory or the host's, as the driver takes them: queued, and in graphs.

use std::{ffi::c_void, ptr};

use cudarc::driver::sys::{self, CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype};
use smallvec::{SmallVec, smallvec};

use super::CudaStream;
use crate::{Result, graph::Place, view::Rows};

/// A side of a copy: where its first row is.
pub(super) type Side = (Place, Rows);

/// Queues a copy of rows.
///
/// # Safety
/// At both sides are these rows, as many and as long, of memory that the stream may use.
pub(super) unsafe fn copy_rows(stream: &CudaStream, to: Side, from: Side) -> Result<()> {
    copies(to, from).iter().try_for_each(|copy| {
        // SAFETY: the rows are there, as the caller promises.
        stream.device().check("cuMemcpy3DAsync", unsafe { sys::cuMemcpy3DAsync_v2(copy, stream.raw()) })
    })
}

/// The copies that the driver is asked for, one after another: one, unless a pitch is more than it takes.
pub(super) fn copies((to, to_rows): Side, (from, from_rows): Side) -> SmallVec<[CUDA_MEMCPY3D; 1]> {
    // `CU_DEVICE_ATTRIBUTE_MAX_PITCH` of every GPU so far. More is documented as an error, although driver 580 takes it on an H100.
    const MAX_PITCH: usize = i32::MAX as usize;
    if to_rows.pitch_bytes.max(from_rows.pitch_bytes) <= MAX_PITCH {
        return smallvec![copy((to, to_rows), (from, from_rows))];
    }
    // One by one, and of those that are longer, so many bytes each.
    let rows = to_rows.offsets().zip(from_rows.offsets());
    let pieces = rows.flat_map(|(to_row, from_row)| {
        let starts = (0..to_rows.row_bytes).step_by(MAX_PITCH);
        starts.map(move |start| {
            let piece = Rows::row((to_rows.row_bytes - start).min(MAX_PITCH));
            copy((to.after(to_row + start), piece), (from.after(from_row + start), piece))
        })
    });
    pieces.collect()
}

fn copy((to, to_rows): Side, (from, from_rows): Side) -> CUDA_MEMCPY3D {
    let (src_type, src_host, src_device) = parts_of(from);
    let (dst_type, dst_host, dst_device) = parts_of(to);
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: src_type,
        srcHost: src_host,
        srcDevice: src_device,
        srcArray: ptr::null_mut(),
        reserved0: ptr::null_mut(),
        srcPitch: from_rows.pitch_bytes,
        srcHeight: from_rows.layer_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: dst_type,
        dstHost: dst_host,
        dstDevice: dst_device,
        dstArray: ptr::null_mut(),
        reserved1: ptr::null_mut(),
        dstPitch: to_rows.pitch_bytes,
        dstHeight: to_rows.layer_pitch,
        WidthInBytes: to_rows.row_bytes,
        Height: to_rows.rows,
        Depth: to_rows.layers,
    }
}

/// Which memory a place is of, and where in it.
fn parts_of(place: Place) -> (CUmemorytype, *mut c_void, CUdeviceptr) {
    match place {
        Place::Device(address) => {
            (CUmemorytype::CU_MEMORYTYPE_DEVICE, ptr::null_mut(), address as CUdeviceptr)
        }
        Place::Host(address) => {
            (CUmemorytype::CU_MEMORYTYPE_HOST, ptr::with_exposed_provenance_mut(address), 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_too_far_apart_are_copied_one_by_one() {
        let rows = |pitch_bytes| Rows { row_bytes: 100, rows: 2, layers: 2, pitch_bytes, layer_pitch: 3 };
        let (near, far) = (rows(100), rows(3 << 30));
        let copies = |to, from| copies((Place::Device(1000), to), (Place::Host(2000), from));
        let one = copies(near, near);
        assert_eq!((one.len(), one[0].WidthInBytes, one[0].Height, one[0].Depth), (1, 100, 2, 2));
        assert_eq!((one[0].dstDevice, one[0].srcHost.addr(), one[0].srcHeight), (1000, 2000, 3));
        for copies in [copies(near, far), copies(far, near)] {
            assert_eq!(copies.len(), 4);
            assert!(copies.iter().all(|copy| (copy.WidthInBytes, copy.Height, copy.Depth) == (100, 1, 1)));
        }
        // The second row, and the first of the second layer.
        let last = copies(near, far);
        assert_eq!((last[1].dstDevice, last[1].srcHost.addr()), (1100, 2000 + (3 << 30)));
        assert_eq!((last[2].dstDevice, last[2].srcHost.addr()), (1300, 2000 + 3 * (3 << 30)));
        // A row that is longer, too.
        let long = copies(Rows::row(5 << 30), Rows::row(5 << 30));
        let pieces: Vec<usize> = long.iter().map(|copy| copy.WidthInBytes).collect();
        assert_eq!(pieces, [i32::MAX as usize, i32::MAX as usize, (1 << 30) + 2]);
        assert_eq!(long[2].dstDevice, 1000 + 2 * i32::MAX as u64);
    }
}
