//! What a user asks to be linked, in a build script or in `gpukernel.toml`.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// Files with device functions in CUDA C or C++, or what other compilers made of such, to be linked with a kernel crate.
///
/// By its extension, a file is compiled (`.cu`, `.cuh`, `.c`, `.cc`, `.cpp`, `.cxx`) or taken as it is (`.ptx`, `.cubin`,
/// `.fatbin`, `.o`, `.a`, `.bc`, `.ltoir`).
///
/// ```no_run
/// // build.rs
/// use gpukernel_build::{Builder, CudaSources, CudaCompiler};
///
/// fn main() -> Result<(), gpukernel_build::Error> {
///     Builder::new("kernels")
///         .link(CudaSources::new(["cuda/filter.cu", "cuda/noise.cu"]).include("cuda/include").define("TAPS", "5"))
///         .link(CudaSources::new(["cuda/inner_loop.cu"]).compiler(CudaCompiler::Clang))
///         .build()
/// }
/// ```
///
/// Or in the `gpukernel.toml` of the kernel crate or of a folder above it, with paths relative to that file:
///
/// ```toml
/// [[link]]
/// crate = "my-kernels"              # the package that it is for; all kernel crates below if left out
/// files = ["cuda/filter.cu"]
/// compiler = "nvcc"                      # or "clang" or "lto"
/// include = ["cuda/include"]
/// define = ["TAPS=5"]
/// flags = ["-std=c++20"]
/// host = ["cuda/filter_host.cpp"]   # for the CPU device, where the host cannot compile the files
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[must_use = "it is linked when a `Builder` or `Options` has it"]
pub struct CudaSources {
    /// The package of the kernel crate that this is for.
    #[serde(rename = "crate")]
    pub(crate) package: Option<String>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) compiler: Option<CudaCompiler>,
    #[serde(default)]
    pub(crate) include: Vec<PathBuf>,
    #[serde(default)]
    pub(crate) define: Vec<String>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    #[serde(default)]
    pub(crate) host: Vec<PathBuf>,
}

impl CudaSources {
    /// Links these files. In a build script their paths are relative to its package.
    pub fn new<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> Self {
        Self { files: files.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Compiles sources with this compiler. Without it nvcc compiles them, or clang where there is no nvcc.
    pub fn compiler(mut self, compiler: CudaCompiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// Looks for headers in this folder too.
    pub fn include(mut self, dir: impl Into<PathBuf>) -> Self {
        self.include.push(dir.into());
        self
    }

    /// Defines a macro for the preprocessor.
    pub fn define(mut self, name: &str, value: &str) -> Self {
        self.define.push(format!("{name}={value}"));
        self
    }

    /// Gives an argument to the compiler as it is.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Compiles this file of C++ for the host alone, where the CPU device looks for the functions that [`files`](Self::new) have
    /// for GPUs only: compiled code, and sources that need more of CUDA than the host has.
    pub fn host(mut self, file: impl Into<PathBuf>) -> Self {
        self.host.push(file.into());
        self
    }

    /// What every compiler is told.
    pub(crate) fn preprocessor_arguments(&self) -> impl Iterator<Item = String> {
        let defines = self.define.iter().map(|define| format!("-D{define}"));
        defines.chain(self.include.iter().map(|dir| format!("-I{}", dir.display())))
    }

    /// The same with all paths starting from a folder.
    pub(crate) fn relative_to(mut self, base: &Path) -> Self {
        for path in self.files.iter_mut().chain(&mut self.include).chain(&mut self.host) {
            *path = base.join(&*path);
        }
        self
    }
}

/// How a source of CUDA C or C++ becomes part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CudaCompiler {
    /// NVIDIA's compiler, to code that is linked with that of the kernels: calls stay calls.
    Nvcc,
    /// LLVM's, to bitcode that is optimised with the kernels: calls are inlined.
    Clang,
    /// NVIDIA's, to LTO-IR that its linker optimises with the kernels: calls are inlined.
    Lto,
}

impl fmt::Display for CudaCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nvcc => "nvcc",
            Self::Clang => "clang",
            Self::Lto => "lto",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_from_the_folder_of_the_file_that_names_them() {
        let link = CudaSources::new(["a.cu", "/b/c.ptx"]).include("include").relative_to(Path::new("/p"));
        assert_eq!(link.files, ["/p/a.cu", "/b/c.ptx"].map(PathBuf::from));
        assert_eq!(link.include, [PathBuf::from("/p/include")]);
    }
}
