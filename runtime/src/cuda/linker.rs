//! Linking by the driver (`cuLinkCreate`): kernels' PTX with code of other compilers that they call, if the image has no machine code for
//! the device.

use std::{
    ffi::{CStr, CString, c_uint, c_void},
    ptr,
};

use cudarc::driver::sys::{
    self, CUjit_option as JitOption, CUjitInputType as InputType, CUlinkState, CUresult,
};
use gpukernel_image::{Part, PartKind};

use super::{CudaDevice, driver};
use crate::{Error, Result, backend::Backend};

/// The maximum number of bytes of the driver's log.
const LOG_BYTES: usize = 16 << 10;

/// Links PTX, which ends in a NUL, and parts to machine code. `what` describes them in errors.
pub(super) fn link(
    device: &'static CudaDevice,
    ptx: &[u8],
    parts: &[Part<'_>],
    what: &dyn Fn() -> String,
) -> Result<Vec<u8>> {
    let unpacked = parts.iter().map(Part::unpack).collect::<Result<Vec<_>, _>>()?;
    device.bind()?;
    let mut linker = Linker::new(device)?;
    let linked = linker.run(ptx, parts.iter().zip(&unpacked));
    linked.map_err(|(call, source)| {
        if driver::is_sticky(&source) {
            return device.error(call, source);
        }
        Error::Load { device: device.describe(), what: what(), source, log: linker.log() }
    })
}

/// A linker of the driver, destroyed when dropped.
struct Linker {
    raw: CUlinkState,
    /// The driver writes here until the linker is destroyed.
    log: Vec<u8>,
}

type Failed = (&'static str, crate::DriverError);

impl Linker {
    fn new(device: &'static CudaDevice) -> Result<Self> {
        let mut linker = Self { raw: ptr::null_mut(), log: vec![0; LOG_BYTES] };
        let mut options = [JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] =
            [linker.log.as_mut_ptr().cast(), ptr::without_provenance_mut(linker.log.len())];
        let count = options.len() as c_uint;
        // SAFETY: options and values are as many as said, of the types that the options have; the buffer of the log lives as long as
        // the linker, on the heap, where it does not move.
        let result = unsafe {
            sys::cuLinkCreate_v2(count, options.as_mut_ptr(), values.as_mut_ptr(), &mut linker.raw)
        };
        device.check("cuLinkCreate", result)?;
        Ok(linker)
    }

    fn run<'p>(
        &mut self,
        ptx: &[u8],
        parts: impl Iterator<Item = (&'p Part<'p>, &'p Vec<u8>)>,
    ) -> Result<Vec<u8>, Failed> {
        self.add(InputType::CU_JIT_INPUT_PTX, ptx, "the kernels")?;
        for (part, bytes) in parts {
            let kind = match part.kind {
                PartKind::Ptx => InputType::CU_JIT_INPUT_PTX,
                PartKind::Cubin => InputType::CU_JIT_INPUT_CUBIN,
                PartKind::Fatbin => InputType::CU_JIT_INPUT_FATBINARY,
                PartKind::Object => InputType::CU_JIT_INPUT_OBJECT,
                PartKind::Library => InputType::CU_JIT_INPUT_LIBRARY,
            };
            self.add(kind, bytes, &part.name)?;
        }
        let (mut code, mut size) = (ptr::null_mut(), 0);
        // SAFETY: a live linker, and pointers to live variables.
        let result = unsafe { sys::cuLinkComplete(self.raw, &mut code, &mut size) };
        driver::check(result).map_err(|error| ("cuLinkComplete", error))?;
        // SAFETY: the driver gives so many bytes there, which last as long as the linker.
        Ok(unsafe { std::slice::from_raw_parts(code.cast::<u8>(), size) }.to_vec())
    }

    fn add(&mut self, kind: InputType, bytes: &[u8], name: &str) -> Result<(), Failed> {
        // Objects are ELF files, and aligned like those.
        let mut aligned = vec![0_u128; bytes.len() / size_of::<u128>() + 1];
        bytemuck::cast_slice_mut(&mut aligned)[..bytes.len()].copy_from_slice(bytes);
        let name = CString::new(name.replace('\0', "")).unwrap_or_default();
        // SAFETY: the bytes are as many as said, and copied by the driver, as is the name; there are no options.
        let result: CUresult = unsafe {
            sys::cuLinkAddData_v2(
                self.raw,
                kind,
                aligned.as_mut_ptr().cast(),
                bytes.len(),
                name.as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        driver::check(result).map_err(|error| ("cuLinkAddData", error))
    }

    fn log(&self) -> String {
        CStr::from_bytes_until_nul(&self.log).unwrap_or_default().to_string_lossy().trim_end().to_owned()
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: created, and not used any more. A drop cannot return the error.
        let _ = unsafe { sys::cuLinkDestroy(self.raw) };
    }
}
