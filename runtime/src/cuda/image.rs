//! Which code of an image a GPU loads.

use gpukernel_image::{Code, CodeKind, Image};

use super::{CudaDevice, CudaModule, linker};
use crate::{
    Error, Result,
    backend::{Backend, ImageCode},
};

/// Loads the code that fits the GPU best, PTX linked with its parts.
pub(super) fn load(
    gpu: &'static CudaDevice,
    ImageCode { image, output, .. }: &ImageCode<'_>,
) -> Result<CudaModule> {
    let (code, bytes) = linked(gpu, image)?;
    let mut module = CudaModule::load(gpu, &bytes, &|| describe(&code, image))?;
    let manifest = image.manifest();
    let waiting = manifest.kernels.iter().filter(|kernel| kernel.waits.contains(&code.arch()));
    module.start_early(waiting.map(|kernel| kernel.symbol.clone()));
    module.listen(manifest, output)?;
    Ok(module)
}

/// The code that fits the GPU best, PTX linked with its parts, and whether it is PTX.
pub(crate) fn code(gpu: &'static CudaDevice, image: &Image<'_>) -> Result<(Vec<u8>, bool)> {
    let (code, bytes) = linked(gpu, image)?;
    // What is linked is machine code.
    let is_ptx = code.kind() == CodeKind::Ptx && image.parts().is_empty();
    Ok((bytes, is_ptx))
}

fn describe(code: &Code<'_>, image: &Image<'_>) -> String {
    format!("the {} for {} of crate `{}`", kind(code.kind()), code.arch(), image.manifest().crate_name)
}

fn linked<'i>(gpu: &'static CudaDevice, image: &Image<'i>) -> Result<(Code<'i>, Vec<u8>)> {
    let manifest = image.manifest();
    if let Some(reason) = &manifest.no_code {
        return Err(Error::NoCode { crate_name: manifest.crate_name.clone(), reason: reason.clone() });
    }
    let arch = gpu.compute_capability();
    let Some(code) = image.code_for(arch) else {
        return Err(Error::NoImageForDevice {
            crate_name: manifest.crate_name.clone(),
            device: gpu.describe(),
            arch: arch.to_string(),
            available: available(image),
        });
    };
    let bytes = code.unpack()?;
    // Machine code was linked with its parts already.
    let linked = match (code.kind(), image.parts()) {
        (CodeKind::Ptx, parts) if !parts.is_empty() => {
            linker::link(gpu, &bytes, parts, &|| describe(&code, image))?
        }
        (CodeKind::Ptx | CodeKind::Cubin, _) => bytes,
    };
    Ok((code, linked))
}

fn available(image: &Image<'_>) -> String {
    match image.code() {
        [] => "nothing".to_owned(),
        code => {
            let pieces = code.iter().map(|code| format!("{} for {}", kind(code.kind()), code.arch()));
            pieces.collect::<Vec<_>>().join(", ")
        }
    }
}

fn kind(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Ptx => "PTX",
        CodeKind::Cubin => "machine code",
    }
}
