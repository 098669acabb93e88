//! cuFFT, cuBLAS and cuRAND, by cudarc, on our buffers and our stream.

use std::{
    env,
    ffi::{OsStr, c_int},
    fs,
    path::PathBuf,
};

use anyhow::{Result, bail};
use cudarc::{
    cublas::{
        self, CudaBlas,
        safe::{Asum, AsumConfig, Gemm, GemmConfig},
        sys::cublasOperation_t::CUBLAS_OP_N,
    },
    cufft::{self, CudaFft, sys::cufftType},
    curand::{self, CudaRng},
};
use gpu_std::complex::Complex;
use gpukernel::{DeviceSlice, Stream};

use super::{Extents, Libraries};

pub(super) struct Cuda {
    stream: Stream,
    blas: CudaBlas,
    forward: CudaFft,
    inverse: CudaFft,
    extents: Extents,
}

impl Cuda {
    pub(super) fn new(stream: &Stream, extents: Extents) -> Result<Self> {
        // SAFETY: they are NVIDIA's, whose initialisers have no preconditions.
        unsafe {
            find("cufft", || cufft::sys::is_culib_present())?;
            find("cublas", || cublas::sys::is_culib_present())?;
            find("curand", || curand::sys::is_culib_present())?;
        }
        // All of them queue here, where the runtime orders what they do.
        let theirs = stream.to_cudarc()?;
        let (rows, columns) = (c_int::try_from(extents.rows)?, c_int::try_from(extents.columns)?);
        Ok(Self {
            stream: stream.clone(),
            blas: CudaBlas::new(theirs.clone())?,
            forward: CudaFft::plan_2d(rows, columns, cufftType::CUFFT_R2C, theirs.clone())?,
            inverse: CudaFft::plan_2d(rows, columns, cufftType::CUFFT_C2R, theirs)?,
            extents,
        })
    }

    /// cudarc does not compare lengths with those of the plan.
    fn check(&self, picture: &DeviceSlice<f32>, spectrum: &DeviceSlice<Complex<f32>>) -> Result<()> {
        if picture.len() != self.extents.pixels() || spectrum.len() != self.extents.spectrum() {
            bail!("{} pixels and {} frequencies: not {:?}", picture.len(), spectrum.len(), self.extents);
        }
        Ok(())
    }
}

/// Loads a library that is not in the loader's path, from the folder of the CUDA toolkit: cudarc then finds it by its name.
///
/// # Safety
/// It is a library of NVIDIA's.
unsafe fn find(name: &str, is_there: impl Fn() -> bool) -> Result<()> {
    if is_there() {
        return Ok(());
    }
    let toolkit = env::var_os("CUDA_PATH").map_or_else(|| PathBuf::from("/usr/local/cuda"), PathBuf::from);
    let folder = toolkit.join("lib64");
    // What it needs comes first.
    let prefixes = [format!("lib{name}Lt.so"), format!("lib{name}.so")];
    for prefix in prefixes {
        let mut files = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_it = |path: &PathBuf| {
            path.file_name().and_then(OsStr::to_str).is_some_and(|file| file.starts_with(&prefix))
        };
        // By any of its names it is one library.
        let Some(path) = files.find(is_it) else { continue };
        // SAFETY: as the caller promises.
        if let Ok(library) = unsafe { libloading::Library::new(path) } {
            // Unloaded, it would lose its name.
            std::mem::forget(library);
        }
    }
    if !is_there() {
        bail!(
            "lib{name} is neither in the path of the loader nor in {}; it is a part of the CUDA toolkit: set LD_LIBRARY_PATH to its folder \
             or CUDA_PATH to the toolkit's, or compute on the CPU (`--device cpu`)",
            folder.display()
        );
    }
    Ok(())
}

impl Libraries for Cuda {
    fn noise(&self, seed: u64, deviation: f32, numbers: &mut DeviceSlice<f32>) -> Result<()> {
        // A generator of its own, whose offset is 0.
        let rng = CudaRng::new(seed, self.stream.to_cudarc()?)?;
        self.stream.lend_to_cudarc(|scope| {
            let mut numbers = scope.write(numbers)?;
            Ok(rng.fill_with_normal(&mut numbers, 0.0, deviation)?)
        })?
    }

    fn outer_product(&self, vector: &DeviceSlice<f32>, matrix: &mut DeviceSlice<f32>) -> Result<()> {
        if matrix.len() != vector.len() * vector.len() {
            bail!("{} elements are not {} squared", matrix.len(), vector.len());
        }
        let size = c_int::try_from(vector.len())?;
        // A column times a row.
        let config = GemmConfig {
            transa: CUBLAS_OP_N,
            transb: CUBLAS_OP_N,
            m: size,
            n: size,
            k: 1,
            alpha: 1.0,
            lda: size,
            ldb: 1,
            beta: 0.0,
            ldc: size,
        };
        self.stream.lend_to_cudarc(|scope| {
            let (vector, mut matrix) = (scope.read(vector)?, scope.write(matrix)?);
            // SAFETY: the extents are those of the memory.
            unsafe { self.blas.gemm(config, &vector, &vector, &mut matrix)? };
            Ok(())
        })?
    }

    fn absolute_sum(&self, values: &DeviceSlice<f32>) -> Result<f32> {
        let config = AsumConfig { n: c_int::try_from(values.len())?, incx: 1 };
        self.stream.lend_to_cudarc(|scope| {
            let (values, mut sum) = (scope.read(values)?, 0.0);
            // SAFETY: there are as many values. cuBLAS waits for the sum, which goes to the host's memory.
            unsafe { self.blas.asum(config, &values, &mut sum)? };
            Ok(sum)
        })?
    }

    fn forward(&self, picture: &DeviceSlice<f32>, spectrum: &mut DeviceSlice<Complex<f32>>) -> Result<()> {
        self.check(picture, spectrum)?;
        self.stream.lend_to_cudarc(|scope| {
            let (picture, mut spectrum) = (scope.read(picture)?, scope.write(spectrum)?);
            Ok(self.forward.exec_r2c(&picture, &mut spectrum)?)
        })?
    }

    fn inverse(
        &self,
        spectrum: &mut DeviceSlice<Complex<f32>>,
        picture: &mut DeviceSlice<f32>,
    ) -> Result<()> {
        self.check(picture, spectrum)?;
        self.stream.lend_to_cudarc(|scope| {
            let (mut spectrum, mut picture) = (scope.write(spectrum)?, scope.write(picture)?);
            Ok(self.inverse.exec_c2r(&mut spectrum, &mut picture)?)
        })?
    }
}
