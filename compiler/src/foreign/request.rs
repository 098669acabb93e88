//! CUDA C and C++ files to link, given in a build script or in `gpukernel.toml`.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// Files with device functions to link with a kernel crate: CUDA C or C++, or the output of other compilers (`nvcc -dc`, `-dlink`; Numba's
/// `@cuda.jit(link=…)`).
///
/// By its extension, a file is compiled (`.cu`, `.cuh`, `.c`, `.cc`, `.cpp`, `.cxx`) or linked unchanged (`.ptx`, `.cubin`,
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
/// crate = "my-kernels"              # the package of the kernel crate; by default all kernel crates below
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
#[doc(alias = "dlink", alias = "dc", alias = "link", alias = "nvcc", alias = "declare_device")]
pub struct CudaSources {
    /// The package of the kernel crate.
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
    /// Links these files. In a build script, paths are relative to its package.
    pub fn new<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> Self {
        Self { files: files.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Sets the compiler of sources. By default nvcc, or clang if there is no nvcc.
    pub fn compiler(mut self, compiler: CudaCompiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// Adds a folder of headers (`-I`).
    pub fn include(mut self, dir: impl Into<PathBuf>) -> Self {
        self.include.push(dir.into());
        self
    }

    /// Defines a preprocessor macro (`-D`).
    pub fn define(mut self, name: &str, value: &str) -> Self {
        self.define.push(format!("{name}={value}"));
        self
    }

    /// Passes an argument to the compiler.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Adds a C++ file that is compiled for the host only. The CPU device uses its functions in place of those of [`files`](Self::new) that
    /// cannot be compiled for the host: machine code, and sources that use more of CUDA than the host has.
    pub fn host(mut self, file: impl Into<PathBuf>) -> Self {
        self.host.push(file.into());
        self
    }

    /// The arguments for every compiler.
    pub(crate) fn preprocessor_arguments(&self) -> impl Iterator<Item = String> {
        let defines = self.define.iter().map(|define| format!("-D{define}"));
        defines.chain(self.include.iter().map(|dir| format!("-I{}", dir.display())))
    }

    /// Makes all paths relative to a folder.
    pub(crate) fn relative_to(mut self, base: &Path) -> Self {
        for path in self.files.iter_mut().chain(&mut self.include).chain(&mut self.host) {
            *path = base.join(&*path);
        }
        self
    }
}

/// The compiler of CUDA C or C++ files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CudaCompiler {
    /// nvcc, to PTX that ptxas and nvlink link with the kernels: functions are not inlined.
    Nvcc,
    /// clang, to bitcode that is optimised together with the kernels: functions are inlined.
    Clang,
    /// nvcc, to LTO-IR that nvlink optimises together with the kernels (`-dlto`): functions are inlined. Needs the feature `lto` of
    /// gpukernel-build.
    #[doc(alias = "dlto")]
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
