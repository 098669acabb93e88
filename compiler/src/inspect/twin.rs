//! A kernel in CUDA C, compiled by nvcc, for comparison with one in Rust.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_image::{Arch, Resources};

use super::{Inspection, code};
use crate::{
    Counted, Error, InstructionCounts, Occupancy, assemble,
    facts::sass,
    toolchain::{CudaPart, CudaTools},
};

/// Compiles a file of CUDA C with nvcc (`-O3`) and looks at one of its kernels: the one whose name contains `name`, or the only one. Files
/// are written to `dir`. Occupancy is for `threads` threads per block. The code has no places in the
/// source.
///
/// # Errors
/// nvcc or nvdisasm is missing, nvcc rejects the file, or there is no such kernel or more than one.
pub fn inspect_cuda_c(
    file: &Path,
    name: &str,
    arch: Arch,
    threads: u32,
    cuda: &CudaTools,
    dir: &Path,
) -> Result<Inspection, Error> {
    let (nvcc, nvdisasm) = (cuda.require(CudaPart::Nvcc)?, cuda.require(CudaPart::Nvdisasm)?);
    fs::create_dir_all(dir).map_err(|reason| Error::File { path: dir.to_owned(), reason })?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let cubin = dir.join(format!("{stem}.{arch}.twin.cubin"));
    let mut compile = Command::new(&nvcc.path);
    compile.args(["-O3", "-Xptxas", "-v", "-cubin"]).arg(format!("-arch={arch}"));
    let messages = run(compile.arg("-o").arg(&cubin).arg(file), &cubin)?.1;
    let resources = assemble::parse_resources(&messages);
    let kernels: Vec<_> = resources.keys().map(String::as_str).collect();
    let symbol = chosen(&kernels, name).ok_or_else(|| Error::NoKernel {
        kernel: format!("{name} in {}", file.display()),
        known: kernels.iter().map(|kernel| (*kernel).to_owned()).collect(),
    })?;
    let text = run(
        Command::new(&nvdisasm.path).args(["--print-code", "--life-range-mode", "count"]).arg(&cubin),
        &cubin.with_extension("sass"),
    )?
    .0;
    let functions = sass::functions(&text);
    let function = functions.get(symbol).map(Vec::as_slice).unwrap_or_default();
    let needs = resources.get(symbol).copied();
    Ok(Inspection {
        kernel: name.to_owned(),
        symbol: symbol.to_owned(),
        arch,
        made_by: nvcc.version.as_ref().map_or_else(|| "nvcc".to_owned(), |version| format!("nvcc {version}")),
        declared_at: None,
        resources: needs,
        occupancy: needs.and_then(|needs: Resources| Occupancy::of(arch, threads, &needs)),
        block_is_known: true,
        counts: match function.is_empty() {
            true => InstructionCounts { counted: Counted::Sass, f64: 0, i64: 0 },
            false => sass::counts(function),
        },
        panics: BTreeSet::new(),
        files: Vec::new(),
        places: Vec::new(),
        llvm_ir: Vec::new(),
        ptx: Vec::new(),
        sass: code::sass(function, Some(function), &[]),
    })
}

/// The kernel of a mangled name that contains the name, or the only one.
fn chosen<'a>(kernels: &[&'a str], name: &str) -> Option<&'a str> {
    match kernels {
        [only] => Some(only),
        _ => {
            // `_Z5saxpyfPKf`: the length of a name is in front of it.
            let mangled = format!("{}{name}", name.len());
            let mut found = kernels.iter().filter(|kernel| **kernel == name || kernel.contains(&mangled));
            let first = found.next()?;
            found.next().is_none().then_some(*first)
        }
    }
}

/// What a program prints to its two streams.
fn run(command: &mut Command, target: &Path) -> Result<(String, String), Error> {
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(|reason| Error::File { path: program.clone(), reason })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, said) = (text(&output.stdout), text(&output.stderr));
    match output.status.success() {
        true => Ok((printed, said)),
        false => Err(Error::Tool {
            program,
            file: target.to_owned(),
            message: format!("{said}{printed}").trim().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_by_their_mangled_names() {
        let two = ["_Z5saxpyfPKfPfi", "_Z6saxpy2fPKfPfi"];
        assert_eq!(chosen(&two, "saxpy"), Some("_Z5saxpyfPKfPfi"));
        assert_eq!(chosen(&two, "axpy"), None);
        assert_eq!(chosen(&["_Z1kv"], "saxpy"), Some("_Z1kv"));
        assert_eq!(chosen(&["saxpy", "other"], "saxpy"), Some("saxpy"));
        assert_eq!(chosen(&["_Z5saxpyf", "_Z5saxpyd"], "saxpy"), None);
    }
}
