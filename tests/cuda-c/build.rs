//! Links the same functions of CUDA C with the same kernels in every way, from the sources and from what other compilers make of them.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_build::{
    Builder, CudaCompiler, CudaSources, Emit, needs_no_device_code,
    toolchain::{CudaPart, FindOptions, Toolchain},
};

const SOURCES: [&str; 3] = ["cuda/functions.cu", "cuda/gpu_only.cu", "cuda/helper.cu"];

fn main() -> Result<(), Box<dyn Error>> {
    let build = |name: &str, link: CudaSources| Builder::new("kernels").image(name).link(link).build();
    build("nvcc", CudaSources::new(SOURCES).compiler(CudaCompiler::Nvcc))?;
    // For programs that know nothing of images.
    let link = CudaSources::new(SOURCES).compiler(CudaCompiler::Clang);
    Builder::new("kernels").image("for-others").emit([Emit::Fatbin]).link(link).build()?;
    let fatbin = PathBuf::from(env::var("OUT_DIR")?).join("for-others/gpukernel_cuda_c_test_kernels.fatbin");
    if needs_no_device_code() {
        fs::create_dir_all(fatbin.parent().ok_or("a file has a folder")?)?;
        fs::write(fatbin, "")?;
    }
    build("clang", CudaSources::new(SOURCES).compiler(CudaCompiler::Clang))?;
    build("lto", CudaSources::new(SOURCES).compiler(CudaCompiler::Lto))?;
    let with_helper = |file| CudaSources::new([SOURCES[0], SOURCES[1], file]);
    build("c", with_helper("cuda/helper.c"))?;
    build("cuh", with_helper("cuda/helper.cuh"))?;
    build("c-clang", with_helper("cuda/helper.c").compiler(CudaCompiler::Clang))?;
    build("cuh-clang", with_helper("cuda/helper.cuh").compiler(CudaCompiler::Clang))?;
    let tools = Tools::find()?;
    build("ptx", CudaSources::new(tools.nvcc("ptx", &["-ptx", "-rdc=true", "-arch=compute_80"])?))?;
    let both = ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_80,code=sm_90"];
    build(
        "fatbin",
        CudaSources::new(tools.nvcc("fatbin", &[&["-fatbin", "-rdc=true"], &both[..]].concat())?),
    )?;
    let lto = ["-ltoir", "-rdc=true", "-gencode=arch=compute_80,code=lto_80"];
    build("ltoir", CudaSources::new(tools.nvcc("ltoir", &lto)?))?;
    let objects = tools.nvcc("o", &[&["-dc"], &both[..]].concat())?;
    let with_host = SOURCES.iter().fold(CudaSources::new(&objects), |link, source| link.host(source));
    build("object", with_host)?;
    build("library", CudaSources::new([tools.library(&objects)?]))?;
    build("bitcode", CudaSources::new(tools.clang()?))?;
    // Machine code of one architecture is for kernels of that one.
    let cubins = tools.nvcc("cubin", &["-cubin", "-rdc=true", "-arch=sm_90"])?;
    let archs = ["sm_90".parse()?];
    Ok(Builder::new("kernels").image("cubin").archs(archs).link(CudaSources::new(cubins)).build()?)
}

/// The compilers, as a project uses them that has compiled its CUDA C before.
struct Tools {
    toolchain: Option<Toolchain>,
    out_dir: PathBuf,
}

impl Tools {
    fn find() -> Result<Self, Box<dyn Error>> {
        let toolchain = match needs_no_device_code() {
            true => None,
            false => Some(Toolchain::find(&FindOptions::new("."))?),
        };
        Ok(Self { toolchain, out_dir: env::var("OUT_DIR")?.into() })
    }

    /// What nvcc makes of each source.
    fn nvcc(&self, extension: &str, arguments: &[&str]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let Some(toolchain) = &self.toolchain else { return Ok(Vec::new()) };
        let nvcc = &toolchain.cuda.require(CudaPart::Nvcc)?.path;
        self.compile(extension, |source, output| {
            let mut command = Command::new(nvcc);
            command.args(arguments).arg("-o").arg(output).arg(source);
            command
        })
    }

    /// Bitcode of each source.
    fn clang(&self) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let Some(toolchain) = &self.toolchain else { return Ok(Vec::new()) };
        let clang = &toolchain.clang.as_ref().ok_or("there is no clang")?.path;
        let cuda = toolchain.cuda.include_root().ok_or("there are no headers of CUDA")?;
        self.compile("bc", |source, output| {
            let mut command = Command::new(clang);
            // clang asks for a header of cuRAND, which it does not need.
            command.args([
                "-x",
                "cuda",
                "--cuda-device-only",
                "--cuda-gpu-arch=sm_80",
                "-nocudalib",
                "-fgpu-rdc",
            ]);
            command.args(["-O1", "-emit-llvm", "-c", "-Wno-unknown-cuda-version", "-isystem", "cuda/empty"]);
            command.arg(format!("--cuda-path={}", cuda.display())).arg("-o").arg(output).arg(source);
            command
        })
    }

    fn compile(
        &self,
        extension: &str,
        command: impl Fn(&Path, &Path) -> Command,
    ) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let mut outputs = Vec::new();
        for source in SOURCES.map(Path::new) {
            let stem = source.file_stem().ok_or("a source has a name")?;
            let output = self.out_dir.join(stem).with_extension(extension);
            let mut command = command(source, &output);
            if !command.status()?.success() {
                return Err(format!("{command:?} failed").into());
            }
            outputs.push(output);
        }
        Ok(outputs)
    }

    /// A library of objects.
    fn library(&self, objects: &[PathBuf]) -> Result<PathBuf, Box<dyn Error>> {
        let library = self.out_dir.join("libfunctions.a");
        if self.toolchain.is_some()
            && !Command::new("ar").arg("rcs").arg(&library).args(objects).status()?.success()
        {
            return Err("ar failed".into());
        }
        Ok(library)
    }
}
