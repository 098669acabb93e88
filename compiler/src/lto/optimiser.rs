//! NVIDIA's optimiser, which is nvlink with libnvvm: kernels and foreign code as LTO-IR go in, PTX comes out; machine code of it is
//! `device_link`'s.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_image::Arch;

use super::{LtoError, libnvvm};
use crate::{
    Error,
    foreign::{Code, Foreign},
    toolchain::{CudaPart, CudaTools},
};

/// What is optimised together.
pub(crate) struct Optimiser<'a> {
    nvlink: &'a Path,
    libnvvm: &'a Path,
    /// Where files go.
    dir: &'a Path,
    /// The lowest architecture, for which LTO-IR is made: others come of it.
    arch: Arch,
    parts: Vec<&'a Path>,
}

/// Kernels ready to be optimised with foreign code.
pub(crate) struct LtoIr {
    pub(crate) path: PathBuf,
    /// The folder in which nvlink finds libnvvm.
    pub(crate) nvvm: PathBuf,
    /// All of it optimised, for the driver to compile.
    pub(crate) ptx: String,
}

impl<'a> Optimiser<'a> {
    pub(crate) fn new(
        cuda: &'a CudaTools,
        dir: &'a Path,
        arch: Arch,
        foreign: &'a Foreign,
    ) -> Result<Self, Error> {
        let parts = foreign.later().filter_map(|part| match &part.code {
            Code::LtoIr(path) => Some(path.as_path()),
            _ => None,
        });
        let (nvlink, libnvvm) = (cuda.require(CudaPart::Nvlink)?, cuda.require(CudaPart::Libnvvm)?);
        Ok(Self { nvlink: &nvlink.path, libnvvm: &libnvvm.path, dir, arch, parts: parts.collect() })
    }

    /// Makes LTO-IR of the kernels' NVVM IR, and the PTX of all.
    pub(crate) fn prepare(&self, ir: &str) -> Result<LtoIr, Error> {
        let path = self.compile("kernels", ir)?;
        let ptx = self.ptx(&path)?;
        Ok(LtoIr { path, nvvm: self.nvvm_folder()?, ptx })
    }

    /// LTO-IR of NVVM IR, for others to link.
    pub(crate) fn lto_ir(&self, ir: &str) -> Result<Vec<u8>, Error> {
        Ok(libnvvm::compile(self.libnvvm, ir, self.arch)?)
    }

    /// PTX in which the foreign functions of these names are whole, so that it can be seen what they take and return.
    pub(crate) fn functions(&self, names: &[&str]) -> Result<String, Error> {
        // How they are declared does not matter: what is in use is kept as it is defined.
        let declared: String = names.iter().map(|name| format!("declare void @{name}()\n")).collect();
        let used: Vec<String> =
            names.iter().map(|name| format!("i8* bitcast (void ()* @{name} to i8*)")).collect();
        let ir = format!(
            "{}{declared}@llvm.used = appending global [{} x i8*] [{}], section \"llvm.metadata\"\n{}",
            super::TARGET,
            used.len(),
            used.join(", "),
            super::VERSION
        );
        self.ptx(&self.compile("names", &ir)?)
    }

    fn compile(&self, name: &str, ir: &str) -> Result<PathBuf, Error> {
        self.write(&format!("{name}.nvvm.ll"), ir.as_bytes())?;
        self.write(&format!("{name}.ltoir"), &self.lto_ir(ir)?)
    }

    /// Optimises this together with the foreign code.
    fn ptx(&self, own: &Path) -> Result<String, Error> {
        let target = own.with_extension("lto.ptx");
        let output = Command::new(self.nvlink)
            .arg(format!("-arch={}", self.arch))
            .args(["-lto", "-emit-ptx", "-nvvmpath"])
            .arg(self.nvvm_folder()?)
            .arg("-o")
            .arg(&target)
            .arg(own)
            .args(&self.parts)
            .output()
            .map_err(|reason| Error::File { path: self.nvlink.to_owned(), reason })?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
            let (arch, log) = (self.arch, message.trim().to_owned());
            return Err(LtoError::Rejected { arch, log }.into());
        }
        fs::read_to_string(&target).map_err(|reason| Error::File { path: target, reason })
    }

    /// A folder with libnvvm where nvlink looks for it, which is not where NVIDIA's wheels have it.
    fn nvvm_folder(&self) -> Result<PathBuf, Error> {
        let folder = self.dir.join("nvvm");
        let link = folder.join("lib64/libnvvm.so");
        if link.canonicalize().ok() != self.libnvvm.canonicalize().ok() {
            fs::create_dir_all(folder.join("lib64"))
                .and_then(|()| if link.is_symlink() { fs::remove_file(&link) } else { Ok(()) })
                .and_then(|()| std::os::unix::fs::symlink(self.libnvvm, &link))
                .map_err(|reason| Error::File { path: link, reason })?;
        }
        Ok(folder)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.dir.join(name);
        fs::write(&path, bytes).map_err(|reason| Error::File { path: path.clone(), reason })?;
        Ok(path)
    }
}
