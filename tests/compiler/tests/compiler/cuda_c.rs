//! Functions in CUDA C and C++: what becomes of them in an image, what is compiled again and when, and what is said of those that cannot
//! be linked.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, process::Command};

use gpukernel_build::{
    Arch, CudaCompiler, CudaSources, DeviceLinkError, Emit, Error, ForeignError, LinkError, Options,
    toolchain::{CudaPart, Environment, FindOptions, Toolchain},
};
use gpukernel_tests::{Inspected, KernelCrate, repository, toolchain};

const ARCH: Arch = Arch::new(9, 0);

/// A kernel that calls `scaled`, as `float scaled(float)`.
const CALLER: &str = "
    use gpu_std::device;
    #[device(import)]
    unsafe extern \"C\" {
        safe fn scaled(x: f32) -> f32;
    }
    #[kernel]
    pub fn apply(y: PerThread<f32>) { for (_, y) in y { *y = scaled(*y); } }
";

const SCALED: &str = "extern \"C\" __device__ float scaled(float x) { return 3.0f * x; }\n";

/// A kernel crate with files beside it.
struct Project {
    kernels: KernelCrate,
}

impl Project {
    fn new(name: &str, lib: &str, files: &[(&str, &str)]) -> Self {
        let project = Self { kernels: KernelCrate::written(name, lib) };
        for (file, text) in files {
            fs::write(project.path(file), text).expect("a fresh folder");
        }
        project
    }

    fn path(&self, file: &str) -> PathBuf {
        self.kernels.dir().join(file)
    }

    fn link(&self, files: &[&str]) -> CudaSources {
        CudaSources::new(files.iter().map(|file| self.path(file))).include(self.kernels.dir())
    }

    fn options(&self, link: CudaSources) -> Options {
        Options { archs: vec![ARCH], links: vec![link], ..Options::default() }
    }

    fn error(&self, link: CudaSources) -> Error {
        self.kernels.try_build(self.options(link)).expect_err("it must not build")
    }

    /// What nvcc makes of a file.
    fn nvcc(&self, arguments: &[&str], source: &str, output: &str) {
        let tools = toolchain();
        let mut command = Command::new(&tools.cuda.require(CudaPart::Nvcc).expect("nvcc is set up").path);
        command.args(arguments).arg("-o").arg(self.path(output)).arg(self.path(source));
        assert!(command.status().expect("nvcc starts").success(), "{command:?}");
    }
}

fn sass_of(name: &str, way: CudaCompiler) -> String {
    let project = Project::new(name, CALLER, &[("scaled.cu", SCALED)]);
    let options = project.options(project.link(&["scaled.cu"]).compiler(way));
    let built: Inspected = project.kernels.inspect(Options { emit: vec![Emit::Sass], ..options });
    built.sass("sm_90")
}

#[test]
fn clang_and_lto_let_calls_inline_and_nvcc_keeps_them() {
    for (name, way) in [("inlined", CudaCompiler::Clang), ("inlined_by_lto", CudaCompiler::Lto)] {
        let inlined = sass_of(name, way);
        assert!(inlined.contains(".text.apply") && inlined.contains("FMUL"), "{inlined}");
        assert!(!inlined.contains("CALL") && !inlined.contains(".text.scaled"), "{inlined}");
    }
    let called = sass_of("called", CudaCompiler::Nvcc);
    assert!(called.contains("CALL"), "{called}");
}

#[test]
fn a_changed_header_is_compiled_again_with_what_includes_it_alone() {
    let lib = format!(
        "{CALLER}
        #[device(import)]
        unsafe extern \"C\" {{ safe fn other(x: f32) -> f32; }}
        #[kernel]
        pub fn apply_other(y: PerThread<f32>) {{ for (_, y) in y {{ *y = other(*y); }} }}"
    );
    let project = Project::new(
        "headers",
        &lib,
        &[
            ("by.h", "#define BY 3.0f\n"),
            (
                "scaled.cu",
                "#include \"by.h\"\nextern \"C\" __device__ float scaled(float x) { return BY * x; }\n",
            ),
            ("other.cu", "extern \"C\" __device__ float other(float x) { return x + 1.0f; }\n"),
        ],
    );
    let build = |archs: &[Arch]| {
        let options = project.options(project.link(&["scaled.cu", "other.cu"]).compiler(CudaCompiler::Nvcc));
        let built = project.kernels.try_build(Options { archs: archs.to_vec(), ..options }).unwrap();
        let names =
            built.recompiled.iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(build(&[ARCH]), ["scaled.cu", "other.cu"]);
    assert_eq!(build(&[ARCH]), [] as [&str; 0]);
    fs::write(project.path("by.h"), "#define BY 4.0f\n").unwrap();
    assert_eq!(build(&[ARCH]), ["scaled.cu"]);
    // Another architecture beside the lowest needs no compiler but ptxas.
    assert_eq!(build(&[ARCH, Arch::new(10, 0)]), [] as [&str; 0]);
}

#[test]
fn two_architectures_cost_one_run_of_the_front_end() {
    let project = Project::new("one_run", CALLER, &[("scaled.cu", SCALED)]);
    // A toolkit whose nvcc notes when it is run.
    let toolkit = project.path("toolkit");
    let log = project.path("runs");
    let tools = toolchain();
    let nvcc = &tools.cuda.require(CudaPart::Nvcc).unwrap().path;
    fs::create_dir_all(toolkit.join("bin")).unwrap();
    let script = format!("#!/bin/sh\necho \"$@\" >> {log:?}\nexec {nvcc:?} \"$@\"\n");
    fs::write(toolkit.join("bin/nvcc"), script).unwrap();
    fs::set_permissions(toolkit.join("bin/nvcc"), fs::Permissions::from_mode(0o755)).unwrap();
    let environment = Environment::process().with("GPUKERNEL_CUDA", &toolkit);
    let tools = Toolchain::find(&FindOptions::new(repository()).environment(environment)).unwrap();

    let options = project.options(project.link(&["scaled.cu"]).compiler(CudaCompiler::Nvcc));
    let archs = vec![Arch::new(8, 0), ARCH];
    project.kernels.try_build_with(&tools, Options { archs, ..options }).unwrap();
    let runs = fs::read_to_string(log).unwrap();
    let compiling = runs.lines().filter(|line| line.contains("scaled.cu")).count();
    assert_eq!(compiling, 1, "{runs}");
}

#[test]
fn settings_name_files_too() {
    let files = [
        ("scaled.cuh", SCALED),
        ("gpukernel.toml", "[[link]]\ncrate = \"settings\"\nfiles = [\"scaled.cuh\"]\n"),
    ];
    let project = Project::new("settings", CALLER, &files);
    let options = Options::of_crate(&project.path("Cargo.toml")).unwrap();
    project.kernels.try_build(Options { archs: vec![ARCH], ..options }).unwrap();
    // Those of another crate are not for this one.
    fs::write(project.path("gpukernel.toml"), "[[link]]\ncrate = \"another\"\nfiles = [\"scaled.cu\"]\n")
        .unwrap();
    assert_eq!(Options::of_crate(&project.path("Cargo.toml")).unwrap().links, []);
}

#[test]
fn without_a_compiler_the_error_says_how_to_get_one() {
    let project = Project::new("no_compiler", CALLER, &[("scaled.cu", SCALED)]);
    let mut tools = toolchain();
    let error = |tools: &Toolchain, link| {
        project
            .kernels
            .try_build_with(tools, project.options(link))
            .expect_err("it must not build")
            .to_string()
    };
    tools.clang = None;
    let link = || project.link(&["scaled.cu"]);
    let text = error(&tools, link().compiler(CudaCompiler::Clang));
    assert!(text.contains("cannot compile") && text.contains("setup --clang"), "{text}");
    tools.cuda = Default::default();
    let text = error(&tools, link().compiler(CudaCompiler::Nvcc));
    assert!(text.contains("nvcc, which was not found") && text.contains("apt install g++"), "{text}");
    let text = error(&tools, link());
    assert!(text.contains("nvcc, which") && text.contains("or clang") && text.contains("neither"), "{text}");
}

#[test]
fn a_syntax_error_is_told_in_the_compilers_words() {
    for way in [CudaCompiler::Nvcc, CudaCompiler::Clang] {
        let project = Project::new(
            "syntax",
            CALLER,
            &[("scaled.cu", "extern \"C\" __device__ float scaled(float x) { return 3 *; }\n")],
        );
        let error = project.error(project.link(&["scaled.cu"]).compiler(way));
        assert!(matches!(error, Error::Foreign(ForeignError::Rejected { .. })), "{error}");
        let text = error.to_string();
        assert!(text.contains("scaled.cu") && text.contains("expected") && text.contains("error"), "{text}");
    }
}

#[test]
fn a_missing_function_is_named_with_who_wants_it_and_what_is_like_it() {
    let project = Project::new(
        "missing",
        CALLER,
        &[(
            "scale.cu",
            "extern \"C\" __device__ float scaled_by(float x);\nextern \"C\" __device__ float scale(float x) { return scaled_by(x); }\n",
        )],
    );
    for way in [CudaCompiler::Nvcc, CudaCompiler::Clang] {
        let error = project.error(project.link(&["scale.cu"]).compiler(way));
        let text = error.to_string();
        assert!(matches!(error, Error::Link(LinkError::Undefined(_))), "{text}");
        assert!(text.contains("undefined device function `scaled`, needed by missing::apply"), "{text}");
        assert!(text.contains("scale.cu defines `scale`, which is similar"), "{text}");
        if way == CudaCompiler::Nvcc {
            assert!(
                text.contains("undefined device function `scaled_by`, needed by ")
                    && text.contains("scale.cu"),
                "{text}"
            );
        }
    }
    // LTO-IR cannot be looked into.
    let error = project.error(project.link(&["scale.cu"]).compiler(CudaCompiler::Lto));
    let Error::DeviceLink(DeviceLinkError::Undefined { missing }) = &error else { panic!("{error}") };
    assert!(missing.iter().any(|(name, by)| name == "scaled" && by == "the kernels"), "{error}");
    // A function of C++ has another name.
    let project =
        Project::new("mangled", CALLER, &[("scaled.cu", "__device__ float scaled(float x) { return x; }\n")]);
    let text = project.error(project.link(&["scaled.cu"]).compiler(CudaCompiler::Nvcc)).to_string();
    assert!(text.contains("declare it `extern \"C\"` there"), "{text}");
}

#[test]
fn what_machine_code_misses_is_named_too() {
    let project = Project::new(
        "missing_in_object",
        CALLER,
        &[(
            "scaled.cu",
            "extern \"C\" __device__ float deeper(float x);\nextern \"C\" __device__ float scaled(float x) { return deeper(x); }\n",
        )],
    );
    project.nvcc(&["-dc", "-arch=sm_90"], "scaled.cu", "scaled.o");
    let error = project.error(project.link(&["scaled.o"]));
    let Error::DeviceLink(DeviceLinkError::Undefined { missing }) = &error else { panic!("{error}") };
    assert_eq!(missing[0].0, "deeper");
    assert!(missing[0].1.ends_with("scaled.o"), "{error}");
}

#[test]
fn a_function_that_two_files_define_is_named_with_both() {
    let project = Project::new("twice", CALLER, &[("one.cu", SCALED), ("two.cu", SCALED)]);
    for way in [CudaCompiler::Nvcc, CudaCompiler::Clang] {
        let error = project.error(project.link(&["one.cu", "two.cu"]).compiler(way));
        let text = error.to_string();
        assert!(
            text.contains("`scaled` is defined twice") && text.contains("one.cu") && text.contains("two.cu"),
            "{text}"
        );
    }
    project.nvcc(&["-dc", "-arch=sm_90"], "one.cu", "one.o");
    let text = project.error(project.link(&["one.o", "two.cu"]).compiler(CudaCompiler::Nvcc)).to_string();
    assert!(text.contains("`scaled` is defined twice") && text.contains("one.o"), "{text}");
}

#[test]
fn other_parameters_than_declared_are_shown_beside_the_declaration() {
    let wrong = "extern \"C\" __device__ float scaled(double x, float y) { return x * y; }\n";
    let project = Project::new("parameters", CALLER, &[("scaled.cu", wrong)]);
    for way in [CudaCompiler::Nvcc, CudaCompiler::Lto] {
        let text = project.error(project.link(&["scaled.cu"]).compiler(way)).to_string();
        assert!(
            text.contains("declared: (4 bytes) -> 4 bytes\n   defined: (8 bytes, 4 bytes) -> 4 bytes"),
            "{text}"
        );
    }
    // Bitcode tells numbers from each other.
    fs::write(project.path("scaled.cu"), "extern \"C\" __device__ float scaled(int x) { return x; }\n")
        .unwrap();
    let text = project.error(project.link(&["scaled.cu"]).compiler(CudaCompiler::Clang)).to_string();
    assert!(text.contains("declared: (f32) -> f32\n   defined: (i32) -> f32"), "{text}");
}

#[test]
fn code_for_another_architecture_is_refused() {
    let project = Project::new("other_arch", CALLER, &[("scaled.cu", SCALED)]);
    project.nvcc(&["-cubin", "-rdc=true", "-arch=sm_80"], "scaled.cu", "scaled.cubin");
    let error = project.error(project.link(&["scaled.cubin"]));
    let Error::Foreign(ForeignError::OtherArch { found, .. }) = &error else { panic!("{error}") };
    assert_eq!(*found, Arch::new(8, 0));
    project.nvcc(&["-ptx", "-rdc=true", "-arch=compute_100"], "scaled.cu", "scaled.ptx");
    let error = project.error(project.link(&["scaled.ptx"]));
    assert!(matches!(error, Error::Foreign(ForeignError::PtxTooHigh { .. })), "{error}");
    assert!(error.to_string().contains("is PTX for sm_100, and kernels are built for sm_90 too"), "{error}");
    // An object has several, or not.
    project.nvcc(&["-dc", "-gencode=arch=compute_80,code=sm_80"], "scaled.cu", "scaled.o");
    let error = project.error(project.link(&["scaled.o"]));
    assert!(matches!(error, Error::DeviceLink(_)), "{error}");
    assert!(error.to_string().contains("scaled"), "{error}");
}

#[test]
fn objects_without_device_code_are_refused() {
    let project = Project::new(
        "host_only",
        CALLER,
        &[("host.c", "float scaled(float x) { return x; }\n"), ("scaled.cu", SCALED)],
    );
    let gcc = |arguments: &[&str], output: &str| {
        let mut command = Command::new("cc");
        command.args(arguments).arg("-c").arg(project.path("host.c")).arg("-o").arg(project.path(output));
        assert!(command.status().unwrap().success(), "{command:?}");
    };
    gcc(&[], "host.o");
    let text = project.error(project.link(&["host.o"])).to_string();
    assert!(text.contains("holds no device code") && text.contains("nvcc -dc"), "{text}");
    gcc(&["-m32"], "host32.o");
    let text = project.error(project.link(&["host32.o"])).to_string();
    assert!(text.contains("32-bit"), "{text}");
    // Compiled without -rdc: its functions are gone.
    project.nvcc(&["-c", "-arch=sm_90"], "scaled.cu", "linked.o");
    let text = project.error(project.link(&["linked.o"])).to_string();
    assert!(text.contains("linked already") && text.contains("-rdc=true"), "{text}");
    // A host function in a source for devices.
    fs::write(project.path("host.cu"), "extern \"C\" float scaled(float x) { return x; }\n").unwrap();
    let text = project.error(project.link(&["host.cu"]).compiler(CudaCompiler::Nvcc)).to_string();
    assert!(
        text.contains("undefined device function `scaled`") && text.contains("as `__device__`"),
        "{text}"
    );
}

#[test]
fn functions_of_a_file_in_c_have_the_names_that_they_have_in_c() {
    let project = Project::new(
        "in_c",
        CALLER,
        &[("scaled.c", "__device__ float scaled(float x) { return 3.0f * x; }\n")],
    );
    for way in [CudaCompiler::Nvcc, CudaCompiler::Clang, CudaCompiler::Lto] {
        let built =
            project.kernels.try_build(project.options(project.link(&["scaled.c"]).compiler(way))).unwrap();
        assert!(built.foreign_functions.contains_key("scaled"), "{way}");
    }
}

#[test]
fn files_that_are_not_there_or_are_nothing_known() {
    let project = Project::new("no_file", CALLER, &[("scaled.txt", SCALED)]);
    let text = project.error(project.link(&["scaled.cu"])).to_string();
    assert!(text.contains("there is no file") && text.contains("scaled.cu"), "{text}");
    let text = project.error(project.link(&["scaled.txt"])).to_string();
    assert!(text.contains("cannot tell what") && text.contains(".ptx"), "{text}");
}

#[test]
fn exported_functions_become_an_object_bitcode_and_a_header() {
    let lib = "
        use gpu_std::device;
        #[device(export)]
        pub extern \"C\" fn doubled(x: f32) -> f32 { x + x }
        #[kernel]
        pub fn unrelated(y: PerThread<f32>) { for (_, y) in y { *y = 0.0; } }
    ";
    let project = Project::new("exports", lib, &[]);
    let emit = vec![Emit::Object, Emit::Bitcode, Emit::Fatbin, Emit::Ptx];
    let archs = vec![Arch::new(8, 0), ARCH];
    let built = project.kernels.try_build(Options { emit, archs, ..Options::default() }).unwrap();
    let [object, bitcode, fatbin, ptx, ..] = &built.emitted[..] else { panic!("{:?}", built.emitted) };
    assert!(fs::read(object).unwrap().starts_with(b"\x7fELF"));
    assert!(fs::read(bitcode).unwrap().starts_with(b"BC\xC0\xDE"));
    assert!(fs::read(fatbin).unwrap().starts_with(&[0x50, 0xed, 0x55, 0xba]));
    assert!(fs::read_to_string(ptx).unwrap().contains(".visible .func  (.param .b32 func_retval0) doubled"));

    // nvcc links a program with it.
    let main = "extern \"C\" __device__ float doubled(float x);\n__global__ void k(float *x) { *x = doubled(*x); }\nint main() { return 0; }\n";
    fs::write(project.path("main.cu"), main).unwrap();
    project.nvcc(&["-dc", "-arch=sm_90"], "main.cu", "main.o");
    let tools = toolchain();
    let nvcc = &tools.cuda.require(CudaPart::Nvcc).unwrap().path;
    let linked = Command::new(nvcc)
        .args(["-arch=sm_90", "-dlink", "-o"])
        .arg(project.path("linked.o"))
        .arg(project.path("main.o"))
        .arg(object)
        .output()
        .unwrap();
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
}

#[test]
fn functions_exported_as_bitcode_or_lto_ir_inline_into_kernels_of_another_crate() {
    let lib = "
        use gpu_std::device;
        #[device(export)]
        pub extern \"C\" fn scaled(x: f32) -> f32 { 3.0 * x }
    ";
    let exporting = Project::new("exporting", lib, &[]);
    let emit = vec![Emit::Bitcode, Emit::LtoIr];
    let options = Options { archs: vec![ARCH], emit, ..Options::default() };
    let built = exporting.kernels.try_build(options).unwrap();
    for (name, file) in ["imports_bitcode", "imports_lto_ir"].into_iter().zip(&built.emitted) {
        let project = Project::new(name, CALLER, &[]);
        let options = project.options(CudaSources::new([file]));
        let sass = project.kernels.inspect(Options { emit: vec![Emit::Sass], ..options }).sass("sm_90");
        assert!(sass.contains("FMUL") && !sass.contains("CALL"), "{sass}");
    }
}

/// A function in Rust that CUDA C calls back, with the C function through which a kernel reaches it.
struct CallBack {
    project: Project,
}

impl CallBack {
    /// `called` has the signature of `extern "C" fn called(x: u32) -> u32` in C.
    fn new(name: &str, exported: &str) -> Self {
        let lib = format!(
            "use gpu_std::device;
            #[device(import)]
            unsafe extern \"C\" {{ safe fn relay(x: u32) -> u32; }}

            {exported}

            /// Reaches it through C.
            #[kernel(block = (64, 1, 1))]
            pub fn through_c(out: PerThread<u32>) {{ for (_, out) in out {{ *out = relay(*out); }} }}

            /// Reaches neither.
            #[kernel(block = 32)]
            pub fn alone(out: PerThread<u32>) {{ for (i, out) in out {{ *out = i as u32; }} }}
            "
        );
        let relay = "extern \"C\" __device__ unsigned called(unsigned x);\n\
                     extern \"C\" __device__ unsigned relay(unsigned x) { return called(x) + 1; }\n\
                     extern \"C\" __global__ void of_any_shape(unsigned *x) { *x = called(*x); }\n";
        Self { project: Project::new(name, &lib, &[("relay.cu", relay)]) }
    }

    /// Links the C function as this kind of file.
    fn inspect(self, file: &str) -> Inspected {
        let project = self.project;
        match file {
            "relay.o" => project.nvcc(&["-dc", "-arch=sm_90"], "relay.cu", file),
            "relay.cubin" => project.nvcc(&["-cubin", "-rdc=true", "-arch=sm_90"], "relay.cu", file),
            "relay.ptx" => project.nvcc(&["-ptx", "-rdc=true", "-arch=compute_90"], "relay.cu", file),
            _ => {}
        }
        let options = project.options(project.link(&[file]).compiler(CudaCompiler::Nvcc));
        project.kernels.inspect(options)
    }
}

/// The PTX of a function that is visible from outside.
fn exported<'a>(ptx: &'a str, name: &str) -> &'a str {
    let head = format!("{name}(\n");
    let mut functions = ptx.split(".visible .func").skip(1);
    let function =
        functions.find(|function| function.lines().take(2).any(|line| format!("{line}\n").ends_with(&head)));
    let function = function.unwrap_or_else(|| panic!("{name} is not there: {ptx}"));
    function.split("\n}").next().unwrap_or(function)
}

/// `alone` calls it for blocks of 32, `through_c` for blocks of 64, and any kernel in C for blocks of 1024.
#[test]
fn exported_functions_are_compiled_for_all_launches() {
    let function = "
        #[device(export)]
        pub extern \"C\" fn called(x: u32) -> u32 {
            let table = [x; 64];
            let place = thread_index();
            let i = place.x as usize + 64 * place.y as usize;
            core::hint::black_box(&table)[i]
        }

        /// For blocks of 64: no check is left.
        #[kernel(block = 64)]
        pub fn in_rust(out: PerThread<u32>) { for (_, out) in out { *out = called(*out); } }
    ";
    let ptx = CallBack::new("any_launch", function).inspect("relay.cu").ptx("sm_90");
    let function = exported(&ptx, "called");
    assert!(function.contains("%tid.x") && function.contains("%tid.y"), "{function}");
    assert!(function.contains("setp.gt.u") || function.contains("setp.lt.u"), "{function}");
}

/// C may keep a pointer that it is passed, and a kernel in C with larger blocks may call it.
#[test]
fn functions_whose_address_c_is_given_are_compiled_for_all_launches() {
    let lib = "
        #[gpu_std::device(import)]
        unsafe extern \"C\" {
            safe fn keep(f: extern \"C\" fn(&[u32; 32]) -> u32);
        }
        extern \"C\" fn element(table: &[u32; 32]) -> u32 { table[thread_index().x as usize] }
        fn direct(table: &[u32; 32]) -> u32 { table[31 - thread_index().x as usize] }

        #[kernel(block = 32)]
        pub fn pass(tables: &[[u32; 32]], out: PerThread<u32>) {
            keep(element);
            let Some(table) = tables.first() else { return };
            for (_, out) in out { *out = direct(table); }
        }
    ";
    let kept = "
        __device__ unsigned (*kept)(const unsigned *);
        extern \"C\" __device__ void keep(unsigned (*f)(const unsigned *)) { kept = f; }";
    let project = Project::new("kept_by_c", lib, &[("kept.cu", kept)]);
    let options = project.options(project.link(&["kept.cu"]).compiler(CudaCompiler::Nvcc));
    let built = project.kernels.inspect(options);
    let ptx = built.ptx("sm_90");
    let element = ptx.split(".func ").find(|function| {
        function.split(['{', ';']).next().is_some_and(|head| head.contains("7element"))
            && function.contains("ret;")
    });
    let element = element.unwrap_or_else(|| panic!("{ptx}"));
    let element = element.split("\n}").next().unwrap_or_default();
    assert!(element.contains("__gpukernel_panic_record"), "{element}");
    // What the kernel calls by itself is in its own blocks.
    assert!(!built.kernel("sm_90", "pass").contains("__gpukernel_panic_record"), "{ptx}");
}

#[test]
fn kernels_that_reach_a_barrier_of_the_grid_through_c_are_launched_cooperatively() {
    let function = "
        #[device(export)]
        pub extern \"C\" fn called(x: u32) -> u32 { meet(); x }
        fn meet() { sync_grid(); }
    ";
    for (index, file) in ["relay.cu", "relay.ptx", "relay.cubin", "relay.o"].into_iter().enumerate() {
        let built = CallBack::new(&format!("grid_through_c_{index}"), function).inspect(file);
        let cooperative = |name: &str| {
            let kernels = &built.built.manifest.kernels;
            kernels.iter().find(|kernel| kernel.symbol == name).expect("it was built").cooperative
        };
        assert!(cooperative("through_c"), "{file}");
        assert!(!cooperative("alone"), "{file}");
    }
}

/// A function that several kernels may reach asks for the number of the kernel, which each of them writes.
#[test]
fn a_panic_in_a_function_that_c_calls_names_the_kernel() {
    let function = "
        #[device(export)]
        pub extern \"C\" fn called(x: u32) -> u32 { 100_u32.checked_sub(x).unwrap() }
    ";
    let built = CallBack::new("panic_through_c", function).inspect("relay.cu");
    let ptx = built.ptx("sm_90");
    assert!(exported(&ptx, "called").contains("[gpukernel_kernel]"), "{ptx}");
    let kernel = built.kernel("sm_90", "through_c");
    assert!(kernel.contains("[gpukernel_kernel], "), "{kernel}");
    assert!(!built.kernel("sm_90", "alone").contains("gpukernel_kernel"), "{ptx}");
}
