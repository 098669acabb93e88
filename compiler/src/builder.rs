//! Building a kernel crate from a build script, into `OUT_DIR`, from where `gpukernel::image!` embeds it.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use gpukernel_image::{Arch, ImageWriter, Manifest};

use crate::{
    BuildInput, Built, CargoOptions, CudaSources, Emit, Error, MachineCode, Options, Panics, Profile,
    dependency::{Dependency, Wrapper, WrapperInput},
    files,
    foreign::host::{self, HostInput},
    guard,
    pipeline::{self, Script},
    plan,
    toolchain::{FindOptions, Settings, Toolchain, ToolchainError},
    wanted,
};

/// Builds a kernel crate from a build script.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), gpukernel_build::Error> {
///     gpukernel_build::Builder::new("kernels").build()
/// }
/// ```
///
/// The program then embeds the image of the crate in folder `kernels`, whose package may have any name:
///
/// ```ignore
/// static KERNELS: gpukernel::Image = gpukernel::image!("kernels");
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is built before `build` is called"]
pub struct Builder {
    kernels: Kernels,
    image: Option<String>,
    archs: Option<Vec<Arch>>,
    machine_code: Option<MachineCode>,
    contraction: Option<bool>,
    profile: Option<Profile>,
    panics: Option<Panics>,
    features: Vec<String>,
    default_features: bool,
    emit: Vec<Emit>,
    links: Vec<CudaSources>,
}

/// Where the kernel crate is.
#[derive(Clone, Debug)]
enum Kernels {
    /// In this folder, relative to the package of the build script.
    Folder(PathBuf),
    /// Among the dependencies, by this name.
    Dependency(String),
}

impl Builder {
    /// Creates a builder for the kernel crate in this folder, relative to the package of the build script.
    pub fn new(crate_dir: impl Into<PathBuf>) -> Self {
        Self::of(Kernels::Folder(crate_dir.into()))
    }

    /// Creates a builder for the kernel crate of this name under `[dependencies]`. A library that is published needs it: a package of a registry
    /// has no folders with other packages in it.
    ///
    /// ```no_run
    /// // build.rs
    /// fn main() -> Result<(), gpukernel_build::Error> {
    ///     gpukernel_build::Builder::dependency("my-kernels").build()
    /// }
    /// ```
    ///
    /// The image is `gpukernel::image!("my-kernels")`. The kernel crate says where it is: its Cargo.toml has `links = "my-kernels"` under
    /// `[package]`, a name that no other package has, and its build script is
    ///
    /// ```text
    /// fn main() {
    ///     println!("cargo::rerun-if-changed=build.rs");
    ///     println!("cargo::metadata=gpukernel_root={}", env!("CARGO_MANIFEST_DIR"));
    /// }
    /// ```
    #[doc(alias = "links")]
    pub fn dependency(name: impl Into<String>) -> Self {
        Self::of(Kernels::Dependency(name.into()))
    }

    fn of(kernels: Kernels) -> Self {
        Self {
            kernels,
            image: None,
            archs: None,
            machine_code: None,
            contraction: None,
            profile: None,
            panics: None,
            features: Vec::new(),
            default_features: true,
            emit: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Sets the name of the image for `gpukernel::image!`, by default that of the folder or of the dependency, so that one crate can be built with different
    /// options.
    pub fn image(mut self, name: impl Into<String>) -> Self {
        self.image = Some(name.into());
        self
    }

    /// Sets the architectures to build code for (`-gencode`), overriding the crate.
    #[doc(alias = "gencode")]
    pub fn archs(mut self, archs: impl IntoIterator<Item = Arch>) -> Self {
        self.archs = Some(archs.into_iter().collect());
        self
    }

    /// Sets the architectures to make machine code for: by default all in a release build, and those of this machine's GPUs in a dev build.
    pub fn machine_code(mut self, machine_code: MachineCode) -> Self {
        self.machine_code = Some(machine_code);
        self
    }

    /// Sets whether a·b+c may be contracted to a fused multiply-add (`-fmad`), overriding the crate.
    #[doc(alias = "fmad")]
    pub fn contraction(mut self, allowed: bool) -> Self {
        self.contraction = Some(allowed);
        self
    }

    /// Sets the build profile, overriding that of the program.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Sets the effect of a panic in a kernel, overriding the crate.
    pub fn panics(mut self, panics: Panics) -> Self {
        self.panics = Some(panics);
        self
    }

    /// Enables features of the kernel crate.
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> Self {
        self.features = features.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether the default features of the kernel crate are enabled, as they are by default.
    pub fn default_features(mut self, enabled: bool) -> Self {
        self.default_features = enabled;
        self
    }

    /// Writes additional files to the folder `$OUT_DIR/NAME`, where `NAME` is that of the image.
    pub fn emit(mut self, files: impl IntoIterator<Item = Emit>) -> Self {
        self.emit = files.into_iter().collect();
        self
    }

    /// Links CUDA C or C++ files with the kernels, in addition to those of `gpukernel.toml`.
    pub fn link(mut self, link: CudaSources) -> Self {
        self.links.push(link);
        self
    }

    /// Builds the image, and tells cargo on which files it depends.
    ///
    /// Kernels are built for the profile of the program: in a dev build they have overflow checks, debug assertions and panic
    /// messages, and machine code is made only for the GPUs of this machine. They are always optimised.
    ///
    /// The environment variable `GPUKERNEL_ARCHS` names GPUs, such as `sm_90` or `sm_80,sm_90`, or `native` for those of this machine: of all kernel crates, only
    /// the code that these would load is made. Where files are [written](Self::emit), all is made, because what takes them has architectures of its own.
    ///
    /// Under tools that only analyse code (clippy, rust-analyzer, docs.rs), the image contains no device code and is marked so. The same goes for
    /// `cargo check` and `cargo doc` where there is no toolchain for kernels.
    ///
    /// # Errors
    /// As [`build`](crate::build), and if the caller is not a build script. Nothing is downloaded: if the toolchain is missing, the
    /// error names the command that installs it.
    pub fn build(self) -> Result<(), Error> {
        let out_dir = PathBuf::from(variable("OUT_DIR")?);
        let package_dir = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
        if guard::is_nested() {
            return Err(Error::Recursion(package_dir));
        }
        let default_name = match &self.kernels {
            // As `gpukernel::image!` names it.
            Kernels::Folder(dir) => dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Kernels::Dependency(name) => name.clone(),
        };
        let name = self.image.unwrap_or_else(|| default_name.clone());
        let image = out_dir.join(format!("{name}.gpukimg"));
        let registry = out_dir.join(format!("{name}.host.rs"));
        if let Some(reason) = guard::needs_no_code() {
            write_empty_image(&image, &default_name, reason)?;
            write_file(&registry, NO_FUNCTIONS)?;
            rerun_if_env_changed(&guard::DECIDING_VARIABLES);
            return Ok(());
        }
        let dependency = match &self.kernels {
            Kernels::Folder(_) => None,
            Kernels::Dependency(name) => Some(Dependency::find(name, env::vars_os())?),
        };
        let crate_path = match (&self.kernels, &dependency) {
            (Kernels::Folder(dir), _) => package_dir.join(dir),
            (_, dependency) => dependency.as_ref().map(|it| it.root.clone()).unwrap_or_default(),
        };
        let packaged = dependency.as_ref().filter(|dependency| dependency.is_packaged());
        let wrapper = packaged.map(|dependency| {
            Wrapper::write(&WrapperInput {
                dependency,
                dir: &out_dir.join(&name).join("workspace"),
                package_dir: &package_dir,
                features: &self.features,
                default_features: self.default_features,
            })
        });
        let wrapper = wrapper.transpose()?;
        // The toolchain is that of the program.
        let settings_dir = wrapper.as_ref().map_or(&package_dir, |wrapper| &wrapper.dir);
        let toolchain = match (Toolchain::find(&FindOptions::new(settings_dir)), guard::checking_command()) {
            (Err(ToolchainError::NoDeviceRustc { .. }), Some(command)) => {
                let reason =
                    format!("it was made by `cargo {command}` where there is no toolchain for kernels");
                write_empty_image(&image, &default_name, reason)?;
                write_file(&registry, NO_FUNCTIONS)?;
                // A file that is not there: this runs again, for a command that needs the code.
                println!("cargo::rerun-if-changed={}", out_dir.join("code-of-kernels").display());
                return Ok(());
            }
            (found, _) => found?,
        };
        let manifest = plan::manifest_path(&crate_path)?;
        let chosen = match wrapper {
            Some(_) => Options::of_packaged_crate(&manifest)?,
            None => Options::of_crate(&manifest)?,
        };
        let profile = profile(env::var("PROFILE").ok().as_deref());
        let machine_code = match profile {
            Profile::Dev => MachineCode::Native,
            Profile::Release => MachineCode::All,
        };
        let links = self.links.into_iter().map(|link| link.relative_to(&package_dir));
        let mut archs = self.archs.unwrap_or(chosen.archs);
        // What takes files, such as a build by nvcc, has architectures of its own.
        if self.emit.is_empty() {
            archs = wanted::by_environment(archs)?;
        }
        let input = BuildInput {
            target_dir: device_target_dir(&out_dir),
            // The files of an image are named after the crate.
            out_dir: out_dir.join(&name),
            crate_path,
            options: Options {
                archs,
                contraction: self.contraction.unwrap_or(chosen.contraction),
                machine_code: self.machine_code.unwrap_or(machine_code),
                profile: self.profile.unwrap_or(profile),
                panics: self.panics.unwrap_or(chosen.panics),
                features: self.features,
                default_features: self.default_features,
                cargo: CargoOptions::default(),
                emit: self.emit,
                emit_after: Vec::new(),
                budgets: chosen.budgets,
                disassembles: false,
                links: chosen.links.into_iter().chain(links).collect(),
            },
        };
        let script = Script { manifest: &package_dir.join("Cargo.toml"), wrapper: wrapper.as_ref() };
        let built = pipeline::build_beside_host(&input, &toolchain, Some(&script))?;
        fs::rename(&built.image, &image).map_err(|reason| Error::File { path: image.clone(), reason })?;
        let host_sources = link_host_versions(&input, &built, &name, &registry)?;
        // Only now: a script that failed runs again anyway, and cargo shows all it printed above its error.
        rerun_if_env_changed(&guard::DECIDING_VARIABLES);
        rerun_if_env_changed(&[
            wanted::VARIABLE,
            "GPUKERNEL_RUSTC",
            "GPUKERNEL_CUDA",
            "GPUKERNEL_CLANG",
            "GPUKERNEL_CACHE",
            "CUDA_HOME",
            "CUDA_PATH",
        ]);
        let settings = Settings::load(settings_dir)?.file;
        let lock = wrapper.as_ref().and_then(|wrapper| wrapper.lock.as_ref());
        let tools = toolchain.cuda.include_root();
        let of_system = |path: &Path| {
            SYSTEM.iter().any(|dir| path.starts_with(dir))
                || tools.is_some_and(|tools| path.starts_with(tools))
        };
        // Newer than the start of this script, so that cargo would run it again each time. They change with what they are made of.
        let made_here = |path: &Path| path.starts_with(&out_dir) || path.starts_with(&input.target_dir);
        let sources = built.sources.iter().chain(&settings).chain(lock).chain(&host_sources);
        for source in sources.filter(|source| !of_system(source) && !made_here(source)) {
            println!("cargo::rerun-if-changed={}", source.display());
        }
        Ok(())
    }
}

fn rerun_if_env_changed(variables: &[&str]) {
    for name in variables {
        println!("cargo::rerun-if-env-changed={name}");
    }
}

fn variable(name: &'static str) -> Result<std::ffi::OsString, Error> {
    env::var_os(name).ok_or(Error::NotABuildScript(name))
}

/// The profile of the program: `PROFILE` is `debug` in the profile `dev` and in those that inherit from it, such as `test`.
fn profile(variable: Option<&str>) -> Profile {
    if variable == Some("debug") { Profile::Dev } else { Profile::Release }
}

/// Folders of compilers' headers: hundreds of files, which change with the compilers.
const SYSTEM: [&str; 2] = ["/usr/include", "/usr/lib"];

/// The file that `gpukernel::image!` includes for kernels that call no CUDA C functions.
const NO_FUNCTIONS: &str = "&[]\n";

/// Compiles CUDA C functions for the host, links them with the package, and writes the file that `gpukernel::image!` includes. Returns
/// the files that this depends on.
fn link_host_versions(
    input: &BuildInput,
    built: &Built,
    image: &str,
    registry: &Path,
) -> Result<BTreeSet<PathBuf>, Error> {
    if built.foreign_functions.is_empty() {
        write_file(registry, NO_FUNCTIONS)?;
        return Ok(BTreeSet::new());
    }
    let dir = input.target_dir.join("foreign/host");
    let crate_name = &built.manifest.crate_name;
    // The same file may be compiled for several images of a program.
    let prefix = format!("{crate_name}_{}", image.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
    let versions = host::compile(&HostInput {
        links: &input.options.links,
        functions: &built.foreign_functions,
        prefix: &prefix,
        dir: &dir,
    })?;
    write_file(registry, &versions.registry())?;
    if !versions.objects.is_empty() {
        let library = format!("gpukernel_{prefix}_host");
        cc::Build::new()
            .objects(&versions.objects)
            .cargo_metadata(false)
            .out_dir(&input.out_dir)
            .try_compile(&library)
            .map_err(|error| Error::HostLibrary(error.to_string()))?;
        println!("cargo::rustc-link-search=native={}", input.out_dir.display());
        println!("cargo::rustc-link-lib=static={library}");
        // Only programs that need it get it: rustc links as needed.
        println!("cargo::rustc-link-lib=dylib=stdc++");
    }
    Ok(versions.sources)
}

fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    files::write(path, text)
}

/// One folder for all device code of a target directory: `OUT_DIR` is `…/target/<profile>/build/<package>/out`.
fn device_target_dir(out_dir: &Path) -> PathBuf {
    let target = out_dir.ancestors().find(|dir| dir.file_name().is_some_and(|name| name == "build"));
    match target.and_then(|build| build.ancestors().nth(2)) {
        Some(target) => target.join("gpukernel"),
        None => out_dir.join("gpukernel"),
    }
}

fn write_empty_image(path: &Path, crate_name: &str, reason: String) -> Result<(), Error> {
    let mut manifest = Manifest::new(crate_name);
    manifest.no_code = Some(reason);
    files::write(path, ImageWriter::new(manifest).finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_follow_the_profile_of_the_program() {
        assert_eq!(profile(Some("debug")), Profile::Dev);
        assert_eq!(profile(Some("release")), Profile::Release);
        assert_eq!(profile(None), Profile::Release);
    }

    #[test]
    fn device_code_is_built_beside_the_profiles() {
        let dir = |out| device_target_dir(Path::new(out));
        assert_eq!(dir("/p/target/debug/build/p-1a2b/out"), Path::new("/p/target/gpukernel"));
        assert_eq!(
            dir("/t/x86_64-unknown-linux-gnu/release/build/p-1/out"),
            Path::new("/t/x86_64-unknown-linux-gnu/gpukernel")
        );
        assert_eq!(dir("/odd/place"), Path::new("/odd/place/gpukernel"));
    }
}
