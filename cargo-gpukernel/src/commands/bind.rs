//! `cargo gpukernel bind`: generates Rust declarations from headers of CUDA C, with bindgen.

use std::{
    env,
    ffi::OsString,
    fs,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::Context;
use bindgen::{
    EnumVariation, RustEdition, RustTarget,
    callbacks::{DeriveInfo, DeriveTrait, ImplementsTrait, ParseCallbacks, TypeKind},
};
use gpukernel_build::{HOST_HEADER, toolchain::Toolchain};

use crate::{commands::setup, output, status};

/// Generate Rust declarations of the functions, structs, enums and constants in CUDA C headers
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Headers to read
    #[arg(required = true, value_name = "HEADER")]
    headers: Vec<PathBuf>,
    /// File to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Search this folder for headers
    #[arg(short = 'I', long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro for the preprocessor
    #[arg(short = 'D', long, value_name = "NAME=VALUE")]
    define: Vec<String>,
    /// Derive `DeviceCopy` for this struct, so that buffers and launches can hold it
    #[arg(long, value_name = "STRUCT")]
    device_copy: Vec<String>,
}

/// Vector types of CUDA that gpu-std has, with the same layout.
const VECTORS: [(&str, &str); 24] = [
    ("float2", "f32x2"),
    ("float3", "f32x3"),
    ("float4", "f32x4"),
    ("double2", "f64x2"),
    ("double3", "f64x3"),
    ("char2", "i8x2"),
    ("char4", "i8x4"),
    ("uchar2", "u8x2"),
    ("uchar4", "u8x4"),
    ("short2", "i16x2"),
    ("short4", "i16x4"),
    ("ushort2", "u16x2"),
    ("ushort4", "u16x4"),
    ("int2", "i32x2"),
    ("int3", "i32x3"),
    ("int4", "i32x4"),
    ("uint2", "u32x2"),
    ("uint3", "u32x3"),
    ("uint4", "u32x4"),
    ("longlong2", "i64x2"),
    ("ulonglong2", "u64x2"),
    ("long2", "i64x2"),
    ("ulong2", "u64x2"),
    ("dim3", "Dim3"),
];

/// Set for the process that has the libraries of clang in its path.
const IN_CHILD: &str = "GPUKERNEL_BIND_WITH_LIBCLANG";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let toolchain = setup::ensure()?;
    if env::var_os(IN_CHILD).is_none()
        && let Some(environment) = libclang(&toolchain)
    {
        // The libraries that libclang needs are found only by a process that started with their path.
        let status = Command::new(env::current_exe()?)
            .args(env::args_os().skip(1))
            .envs(environment)
            .env(IN_CHILD, "1")
            .status()
            .context("cannot start again with libclang")?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let text = bind(args, resource_dir(&toolchain))?;
    match &args.output {
        Some(path) => output::write(path, text)?,
        None => status::print(text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Where libclang is, if `cargo gpukernel setup --clang` unpacked it: the system's is found without.
fn libclang(toolchain: &Toolchain) -> Option<[(&'static str, OsString); 2]> {
    let clang = toolchain.clang.as_ref()?;
    let root = clang.path.parent()?.parent()?.join("usr/lib");
    let folders: Vec<PathBuf> =
        [format!("{}-linux-gnu", env::consts::ARCH), format!("llvm-{}/lib", clang.version.major)]
            .iter()
            .map(|folder| root.join(folder))
            .filter(|folder| folder.is_dir())
            .collect();
    let library = folders.iter().find(|folder| {
        let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with("libclang-"))
    })?;
    let path = env::join_paths(&folders).ok()?;
    Some([("LIBCLANG_PATH", library.clone().into()), ("LD_LIBRARY_PATH", path)])
}

/// Where clang has its own headers, such as `stddef.h`, which libclang does not find from where it is.
fn resource_dir(toolchain: &Toolchain) -> Option<String> {
    let output = Command::new(&toolchain.clang.as_ref()?.path).arg("-print-resource-dir").output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| format!("-resource-dir={}", path.trim()))
}

fn bind(args: &Args, resource_dir: Option<String>) -> anyhow::Result<String> {
    // CUDA's keywords and types are what they are for the CPU device.
    let dir = tempfile::tempdir().context("cannot make a folder for a header")?;
    let prelude = dir.path().join("gpukernel_host.h");
    fs::write(&prelude, HOST_HEADER).context("cannot write a header")?;
    for header in &args.headers {
        anyhow::ensure!(header.is_file(), "there is no header {}", header.display());
    }
    let mut builder = bindgen::Builder::default()
        .clang_args(["-x", "c++", "-std=c++17", "-Wno-pragma-once-outside-header", "-include"])
        .clang_arg(prelude.display().to_string())
        .clang_args(resource_dir)
        .clang_args(args.include.iter().map(|dir| format!("-I{}", dir.display())))
        .clang_args(args.define.iter().map(|define| format!("-D{define}")))
        .use_core()
        .ctypes_prefix("core::ffi")
        .rust_target(RustTarget::stable(95, 0).unwrap_or_default())
        .rust_edition(RustEdition::Edition2024)
        .merge_extern_blocks(true)
        .sort_semantically(true)
        .layout_tests(true)
        .derive_default(true)
        .derive_partialeq(true)
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: false })
        .disable_header_comment()
        .parse_callbacks(Box::new(Callbacks { device_copy: args.device_copy.clone() }));
    for header in &args.headers {
        builder = builder.header(header.display().to_string()).allowlist_file(pattern(header));
    }
    for (theirs, _) in VECTORS {
        builder = builder.blocklist_type(theirs);
    }
    // bindgen panics where there is no libclang.
    let generated = panic::catch_unwind(AssertUnwindSafe(|| builder.generate()));
    let generated = generated.map_err(|_| {
        anyhow::anyhow!(
            "libclang was not found: install it with `cargo gpukernel setup --clang`, or set LIBCLANG_PATH"
        )
    })?;
    let names = args.headers.iter().map(|header| header.display().to_string()).collect::<Vec<_>>().join(" ");
    let text = generated.with_context(|| format!("cannot read {names}"))?.to_string();
    Ok(complete(&text, &names))
}

/// The header, as a pattern for bindgen.
fn pattern(header: &Path) -> String {
    let mut pattern = String::new();
    for character in header.display().to_string().chars() {
        if !character.is_alphanumeric() && character != '/' {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// With the vector types of gpu-std, and functions declared as those of CUDA C.
fn complete(bindings: &str, headers: &str) -> String {
    let mut text = format!(
        "//! Declarations of {headers}. Generated by `cargo gpukernel bind`: do not edit.\n\
         #![allow(missing_docs, dead_code, unreachable_pub)]\n\
         #![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]\n\n"
    );
    let words: Vec<&str> = bindings.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    for (theirs, ours) in VECTORS.into_iter().filter(|(theirs, _)| words.contains(theirs)) {
        let module = if ours == "Dim3" { "gpu_std" } else { "gpu_std::vector" };
        text += &format!("use {module}::{ours} as {theirs};\n");
    }
    text += &bindings
        // What LLVM takes for a name as it is.
        .replace("\\u{1}", "")
        .replace("unsafe extern \"C\" {", "#[gpu_std::device(import)]\nunsafe extern \"C\" {");
    text
}

#[derive(Debug)]
struct Callbacks {
    device_copy: Vec<String>,
}

impl ParseCallbacks for Callbacks {
    fn blocklisted_type_implements_trait(&self, name: &str, wanted: DeriveTrait) -> Option<ImplementsTrait> {
        let is_ours = VECTORS.iter().any(|(theirs, _)| *theirs == name);
        let implements = match wanted {
            DeriveTrait::Copy | DeriveTrait::Debug | DeriveTrait::PartialEqOrPartialOrd => is_ours,
            DeriveTrait::Default => is_ours && name != "dim3",
            DeriveTrait::Hash => false,
        };
        implements.then_some(ImplementsTrait::Yes)
    }

    fn add_derives(&self, info: &DeriveInfo<'_>) -> Vec<String> {
        let wanted = self.device_copy.iter().any(|name| name == info.name);
        match info.kind {
            TypeKind::Struct | TypeKind::Enum if wanted => vec!["gpu_std::DeviceCopy".to_owned()],
            _ => Vec::new(),
        }
    }
}
