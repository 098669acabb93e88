//! Files: the image, and what is made beside it for people and for other programs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_image::{Arch, ImageWriter, Manifest, PartKind};

use crate::{
    Emit, Error,
    assemble::Assembled,
    files,
    foreign::{Code, Foreign},
    toolchain::{CudaPart, Toolchain},
};

/// What the steps made, on its way into files.
pub(crate) struct Outputs<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) name: &'a str,
    #[cfg_attr(not(feature = "header"), expect(dead_code, reason = "headers are made of what is there"))]
    pub(crate) crate_dir: &'a Path,
    /// The files that the crate and its local dependencies were compiled from.
    #[cfg_attr(not(feature = "header"), expect(dead_code, reason = "headers are made of them"))]
    pub(crate) sources: &'a [PathBuf],
    pub(crate) bitcode: &'a [u8],
    pub(crate) ptx: &'a [(Arch, String)],
    /// The module for NVIDIA's optimiser, if it was asked for.
    pub(crate) lto_ir: Option<&'a [u8]>,
    /// What the driver is to compile in place of that of the lowest architecture.
    pub(crate) optimised_ptx: Option<&'a str>,
    pub(crate) assembled: &'a [Assembled],
    pub(crate) text: Option<&'a str>,
    pub(crate) foreign: &'a Foreign,
}

impl Outputs<'_> {
    pub(crate) fn write_image(&self, manifest: &Manifest) -> Result<PathBuf, Error> {
        let mut writer = ImageWriter::new(manifest.clone());
        for (place, (arch, ptx)) in self.ptx.iter().enumerate() {
            let has_machine_code = self.assembled.iter().any(|assembled| assembled.arch == *arch);
            match self.optimised_ptx.filter(|_| place == 0) {
                Some(optimised) => writer.add_ptx(*arch, optimised),
                None if place == 0 || !has_machine_code => writer.add_ptx(*arch, ptx),
                None => {}
            }
        }
        for Assembled { arch, cubin, .. } in self.assembled {
            writer.add_cubin(*arch, cubin.clone());
        }
        for part in self.foreign.later() {
            let name = part.file.file_name().unwrap_or_default().to_string_lossy();
            let (kind, path) = match &part.code {
                Code::Ptx { path, .. } => (PartKind::Ptx, path),
                Code::Machine(path) | Code::Bitcode(path) => (machine_kind(path), path),
                // It is in `optimised_ptx`.
                Code::LtoIr(_) => continue,
            };
            let bytes = fs::read(path).map_err(|reason| Error::File { path: path.clone(), reason })?;
            writer.add_part(kind, &name, bytes);
        }
        self.file(format!("{}.gpukimg", self.name), &writer.finish())
    }

    pub(crate) fn write(&self, wanted: &[Emit], toolchain: &Toolchain) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        for emit in wanted {
            match emit {
                Emit::LlvmIr => {
                    files.push(
                        self.file(format!("{}.ll", self.name), self.text.unwrap_or_default().as_bytes())?,
                    );
                }
                Emit::Ptx => {
                    for (arch, ptx) in self.ptx {
                        files.push(self.file(format!("{}.{arch}.ptx", self.name), ptx.as_bytes())?);
                    }
                }
                Emit::Cubin => {
                    for Assembled { arch, cubin, .. } in self.assembled {
                        files.push(self.file(format!("{}.{arch}.cubin", self.name), cubin)?);
                    }
                }
                Emit::Sass => {
                    for Assembled { arch, cubin, .. } in self.assembled {
                        let cubin = self.file(format!("{}.{arch}.cubin", self.name), cubin)?;
                        let text = disassemble(&cubin, toolchain)?;
                        files.push(self.file(format!("{}.{arch}.sass", self.name), &text)?);
                    }
                }
                Emit::Fatbin => files.push(self.fatbin(toolchain)?),
                Emit::Object => files.push(self.object(toolchain)?),
                Emit::Bitcode => files.push(self.file(format!("{}.bc", self.name), self.bitcode)?),
                Emit::LtoIr => {
                    files.push(self.file(format!("{}.ltoir", self.name), self.lto_ir.unwrap_or_default())?)
                }
                Emit::Header => files.push(self.header()?),
            }
        }
        Ok(files)
    }

    fn fatbin(&self, toolchain: &Toolchain) -> Result<PathBuf, Error> {
        let fatbinary = &toolchain.cuda.require(CudaPart::Fatbinary)?.path;
        let target = self.dir.join(format!("{}.fatbin", self.name));
        let mut command = Command::new(fatbinary);
        command.arg("-64");
        let image = |kind: &str, arch: Arch, path: &Path| {
            let number = arch.to_string().replace("sm_", "");
            format!("--image3=kind={kind},sm={number},file={}", path.display())
        };
        for Assembled { arch, cubin, .. } in self.assembled {
            let cubin = self.file(format!("{}.{arch}.cubin", self.name), cubin)?;
            command.arg(image("elf", *arch, &cubin));
        }
        if let (Some((arch, ptx)), true) = (self.ptx.first(), self.foreign.later().next().is_none()) {
            let ptx = self.file(format!("{}.{arch}.ptx", self.name), ptx.as_bytes())?;
            command.arg(image("ptx", *arch, &ptx));
        }
        files::make(&target, |unfinished| run(command.arg("--create").arg(unfinished), &target))?;
        Ok(target)
    }

    /// By nvcc, which makes of PTX what it makes of CUDA C.
    fn object(&self, toolchain: &Toolchain) -> Result<PathBuf, Error> {
        let nvcc = &toolchain.cuda.require(CudaPart::Nvcc)?.path;
        let target = self.dir.join(format!("{}.o", self.name));
        let mut command = Command::new(nvcc);
        command.arg("-dc");
        if let Some((lowest, ptx)) = self.ptx.first() {
            let number = |arch: Arch| arch.to_string().replace("sm_", "");
            for (arch, _) in self.ptx {
                let (from, to) = (number(*lowest), number(*arch));
                command.arg(format!("-gencode=arch=compute_{from},code=sm_{to}"));
            }
            command.arg(self.file(format!("{}.{lowest}.ptx", self.name), ptx.as_bytes())?);
        }
        files::make(&target, |unfinished| run(command.arg("-o").arg(unfinished), &target))?;
        Ok(target)
    }

    #[cfg(feature = "header")]
    fn header(&self) -> Result<PathBuf, Error> {
        let target = self.dir.join(format!("{}.h", self.name));
        // Not those of the crates that it depends on.
        let is_own = |path: &&PathBuf| {
            path.starts_with(self.crate_dir) && path.extension().is_some_and(|extension| extension == "rs")
        };
        let rust = self.sources.iter().filter(is_own);
        crate::header::write(&rust.map(PathBuf::as_path).collect::<Vec<_>>(), self.name, &target)?;
        Ok(target)
    }

    #[cfg(not(feature = "header"))]
    fn header(&self) -> Result<PathBuf, Error> {
        Err(Error::header_is_off())
    }

    fn file(&self, name: String, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.dir.join(name);
        files::write(&path, bytes)?;
        Ok(path)
    }
}

/// As what the driver links a file, by its extension.
fn machine_kind(path: &Path) -> PartKind {
    match path.extension().unwrap_or_default().to_string_lossy().as_ref() {
        "fatbin" => PartKind::Fatbin,
        "o" => PartKind::Object,
        "a" => PartKind::Library,
        _ => PartKind::Cubin,
    }
}

/// Runs a tool that makes a file.
fn run(command: &mut Command, target: &Path) -> Result<(), Error> {
    let program = PathBuf::from(command.get_program());
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let message = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
            Err(Error::Tool { program, file: target.to_owned(), message: message.trim().to_owned() })
        }
        Err(reason) => Err(Error::File { path: program, reason }),
    }
}

fn disassemble(cubin: &Path, toolchain: &Toolchain) -> Result<Vec<u8>, Error> {
    let nvdisasm = toolchain.cuda.require(CudaPart::Nvdisasm)?;
    let output = Command::new(&nvdisasm.path).arg("--print-code").arg(cubin).output();
    match output {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => {
            let reason = std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned());
            Err(Error::File { path: cubin.to_owned(), reason })
        }
        Err(reason) => Err(Error::File { path: nvdisasm.path.clone(), reason }),
    }
}
