//! Compiles device functions for the host, as C++, so that kernels that call them run on the CPU device too.
//!
//! A header replaces CUDA's built-ins. A file that needs more of CUDA has no host version, which is an error only when a kernel on the
//! CPU calls one of its functions; the program contains the reason for that case.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use object::{Object, ObjectSymbol};

use super::{
    CudaSources, ForeignError, Kind,
    source::{self, Recipe, Source},
};

/// The header that replaces CUDA's built-ins on the host; every file includes it.
pub const HEADER: &str = include_str!("host/gpukernel_host.h");

/// Headers of CUDA that files name for what [`HEADER`] has.
const FORWARDED: [&str; 6] = [
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "math_constants.h",
    "vector_functions.h",
    "vector_types.h",
];

/// What is compiled.
pub(crate) struct HostInput<'a> {
    pub(crate) links: &'a [CudaSources],
    /// The functions, and the files that define them for the device.
    pub(crate) functions: &'a BTreeMap<String, PathBuf>,
    /// For names of symbols that no other image has.
    pub(crate) prefix: &'a str,
    /// A folder for what is compiled, kept between builds.
    pub(crate) dir: &'a Path,
}

/// What came out.
pub(crate) struct HostVersions {
    /// Each function with its symbol, or with the reason why it has none.
    functions: Vec<(String, Result<String, String>)>,
    pub(crate) objects: Vec<PathBuf>,
    /// The files that were read.
    pub(crate) sources: BTreeSet<PathBuf>,
}

/// Compiles what can be compiled.
pub(crate) fn compile(input: &HostInput<'_>) -> Result<HostVersions, ForeignError> {
    let mut versions = HostVersions { functions: Vec::new(), objects: Vec::new(), sources: BTreeSet::new() };
    let mut sources = Vec::new();
    // Why a file has no version.
    let mut reasons: BTreeMap<PathBuf, String> = BTreeMap::new();
    let include = write_headers(input.dir)?;
    // Functions of C++ have names that the preprocessor does not see, and that no function of a program is likely to have.
    let is_mangled = |function: &str| function.starts_with("_Z");
    let symbol = |function: &str| match is_mangled(function) {
        true => function.to_owned(),
        false => format!("__gpukernel_{}_{function}", input.prefix),
    };
    // The same names in all files, so that one can call what another defines.
    let renamed = input.functions.keys().filter(|name| !is_mangled(name));
    let renamed: Vec<_> = renamed.map(|name| format!("-D{name}={}", symbol(name))).collect();
    for link in input.links {
        for file in link.files.iter().chain(&link.host) {
            if !file.is_file() {
                return Err(ForeignError::Missing { file: file.clone() });
            }
            let recipe = match Kind::of(file)? {
                Kind::Source(()) => recipe(link, &include, &renamed),
                _ => Err(format!(
                    "{} is compiled code: name its source for the host (`CudaSources::host`, or `host = [...]` in gpukernel.toml)",
                    file.display()
                )),
            };
            match recipe {
                Ok(recipe) => sources.push(Source::new(file, input.dir, &recipe)?),
                Err(reason) => drop(reasons.insert(file.clone(), reason)),
            }
        }
    }
    let mut defined = BTreeSet::new();
    for (source, result) in sources.iter().zip(source::compile_all(&sources)) {
        match result {
            Ok(compiled) => {
                versions.sources.extend(compiled.included);
                defined.extend(symbols(&compiled.path)?);
                versions.objects.push(compiled.path);
            }
            Err(ForeignError::Rejected { message, .. }) => {
                reasons.insert(source.file.clone(), first_error(&message));
            }
            Err(other) => return Err(other),
        }
    }
    // Where the file is not known that defines a function, it may be any of these.
    let any_reason = reasons.values().cloned().collect::<Vec<_>>().join("; ");
    for (function, file) in input.functions {
        let symbol = symbol(function);
        let version = if defined.contains(&symbol) {
            Ok(symbol)
        } else if let Some(reason) = reasons.get(file) {
            Err(reason.clone())
        } else if file.as_os_str().is_empty() && !any_reason.is_empty() {
            Err(any_reason.clone())
        } else {
            Err("no file that was compiled for the host defines it".to_owned())
        };
        versions.functions.push((function.clone(), version));
    }
    Ok(versions)
}

/// How the host's compiler is run. The error is a reason why it cannot be.
fn recipe(link: &CudaSources, include: &Path, renamed: &[String]) -> Result<Recipe, String> {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(3).debug(false).warnings(false).cargo_metadata(false).pic(true);
    let compiler = build.try_get_compiler().map_err(|error| {
        format!("no C++ compiler was found ({error}); on Debian `apt install g++` gets one")
    })?;
    let mut arguments: Vec<String> =
        compiler.args().iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    // Nothing here throws, and a failed launch unwinds through these functions all the same.
    arguments.extend(
        ["-x", "c++", "-c", "-fno-exceptions", "-fasynchronous-unwind-tables", "-w", "-I"].map(str::to_owned),
    );
    arguments.push(include.display().to_string());
    arguments.extend(["-include".to_owned(), include.join("gpukernel_host.h").display().to_string()]);
    arguments.extend_from_slice(renamed);
    Ok(Recipe {
        compiler: compiler.path().to_owned(),
        version: None,
        arguments: arguments.into_iter().chain(link.preprocessor_arguments()).collect(),
        extension: "o",
    })
}

fn write_headers(dir: &Path) -> Result<PathBuf, ForeignError> {
    let include = dir.join("include");
    fs::create_dir_all(&include).map_err(|reason| ForeignError::File { path: include.clone(), reason })?;
    let forward = "#include \"gpukernel_host.h\"\n";
    let forwarded = FORWARDED.iter().map(|name| (*name, forward));
    for (name, text) in [("gpukernel_host.h", HEADER)].into_iter().chain(forwarded) {
        let path = include.join(name);
        // Unchanged files stay as old as what was made of them.
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::write(&path, text).map_err(|reason| ForeignError::File { path, reason })?;
    }
    Ok(include)
}

/// The functions that an object defines for others.
fn symbols(path: &Path) -> Result<Vec<String>, ForeignError> {
    let failed = |reason| ForeignError::File { path: path.to_owned(), reason };
    let bytes = fs::read(path).map_err(failed)?;
    let object =
        object::File::parse(bytes.as_slice()).map_err(|error| failed(std::io::Error::other(error)))?;
    let defined = object.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition());
    Ok(defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect())
}

/// The line of a compiler's messages that says what is wrong.
fn first_error(message: &str) -> String {
    let line = message.lines().find(|line| line.contains("error:")).or_else(|| message.lines().next());
    line.unwrap_or("the host's compiler does not compile it").trim().to_owned()
}

impl HostVersions {
    /// The expression that `gpukernel::image!` includes: a slice of `HostFunction`s, sorted by name.
    pub(crate) fn registry(&self) -> String {
        let mut externs = String::new();
        let mut table = String::new();
        for (index, (function, version)) in self.functions.iter().enumerate() {
            let code = match version {
                Ok(symbol) => {
                    externs += &format!("        #[link_name = {symbol:?}]\n        fn f{index}();\n");
                    format!("HostCode::Here(f{index})")
                }
                Err(reason) => format!("HostCode::Missing({reason:?})"),
            };
            table += &format!("        HostFunction {{ name: {function:?}, code: {code} }},\n");
        }
        let externs = if externs.is_empty() {
            externs
        } else {
            format!("    unsafe extern \"C\" {{\n{externs}    }}\n")
        };
        format!("{{\n{externs}    const FUNCTIONS: &[HostFunction] = &[\n{table}    ];\n    FUNCTIONS\n}}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_an_expression() {
        let functions = vec![
            ("bar".to_owned(), Ok("__gpukernel_k_bar".to_owned())),
            ("baz".to_owned(), Err("b.cu:1: error: \"x\"".to_owned())),
        ];
        let versions = HostVersions { functions, objects: Vec::new(), sources: BTreeSet::new() };
        let text = versions.registry();
        assert!(text.contains("HostFunction { name: \"bar\", code: HostCode::Here(f0) }"), "{text}");
        assert!(text.contains("HostCode::Missing(\"b.cu:1: error: \\\"x\\\"\")"), "{text}");
        let none = HostVersions { functions: Vec::new(), objects: Vec::new(), sources: BTreeSet::new() };
        assert!(!none.registry().contains("extern"));
    }
}
