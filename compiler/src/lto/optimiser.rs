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
    device_link::LtoIr,
    foreign::{Code, Foreign},
    toolchain::{CudaPart, CudaTools, ToolchainError},
};

/// What is optimised together.
pub(crate) struct Optimiser<'a> {
    tools: LtoTools<'a>,
    /// Where files go.
    dir: &'a Path,
    /// The lowest architecture, for which LTO-IR is made: others come of it.
    arch: Arch,
    parts: Vec<&'a Path>,
}

/// The tools that it takes.
#[derive(Clone, Copy)]
pub(crate) struct LtoTools<'a> {
    nvlink: &'a Path,
    libnvvm: &'a Path,
}

impl<'a> LtoTools<'a> {
    pub(crate) fn find(cuda: &'a CudaTools) -> Result<Self, ToolchainError> {
        let (nvlink, libnvvm) = (cuda.require(CudaPart::Nvlink)?, cuda.require(CudaPart::Libnvvm)?);
        Ok(Self { nvlink: &nvlink.path, libnvvm: &libnvvm.path })
    }
}

impl<'a> Optimiser<'a> {
    pub(crate) fn new(tools: LtoTools<'a>, dir: &'a Path, arch: Arch, foreign: &'a Foreign) -> Self {
        let parts = foreign.later().filter_map(|part| match &part.code {
            Code::LtoIr(path) => Some(path.as_path()),
            _ => None,
        });
        Self { tools, dir, arch, parts: parts.collect() }
    }

    /// Makes LTO-IR of the kernels' NVVM IR, and the PTX of all.
    pub(crate) fn prepare(&self, ir: &str) -> Result<LtoIr, Error> {
        let path = self.compile("kernels", ir)?;
        let ptx = self.ptx(&path)?;
        Ok(LtoIr { path, nvvm: self.nvvm_folder()?, ptx })
    }

    /// LTO-IR of NVVM IR, for others to link.
    pub(crate) fn lto_ir(&self, ir: &str) -> Result<Vec<u8>, Error> {
        Ok(libnvvm::compile(self.tools.libnvvm, ir, self.arch)?)
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
        let output = Command::new(self.tools.nvlink)
            .arg(format!("-arch={}", self.arch))
            .args(["-lto", "-emit-ptx", "-nvvmpath"])
            .arg(self.nvvm_folder()?)
            .arg("-o")
            .arg(&target)
            .arg(own)
            .args(&self.parts)
            .output()
            .map_err(|reason| Error::File { path: self.tools.nvlink.to_owned(), reason })?;
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
        if link.canonicalize().ok() != self.tools.libnvvm.canonicalize().ok() {
            fs::create_dir_all(folder.join("lib64"))
                .and_then(|()| if link.is_symlink() { fs::remove_file(&link) } else { Ok(()) })
                .and_then(|()| std::os::unix::fs::symlink(self.tools.libnvvm, &link))
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
