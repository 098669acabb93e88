//! What becomes of panics in device code.

use gpukernel_build::{Arch, Emit, Options, Panics, Profile};
use gpukernel_tests::{Inspected, KernelCrate, Shape, default_archs};

const RECORD: &str = "__gpukernel_panic_record";

fn built(name: &str, lib: &str, options: Options) -> Inspected {
    KernelCrate::written(name, lib).inspect(options)
}

fn dev() -> Options {
    Options { profile: Profile::Dev, ..Options::default() }
}

fn trap() -> Options {
    Options { panics: Panics::Trap, ..Options::default() }
}

/// Three panics in one kernel.
const THREE: &str = "
    #[kernel]
    pub fn three(x: &[u32], out: PerThread<u32>) {
        for (i, out) in out {
            *out = x[i + 1] / x[i] + x.get(2 * i).unwrap();
        }
    }";

#[test]
fn a_release_build_records_places_in_one_cold_block_without_calls_or_stack() {
    let inspected = built("panic_release", THREE, Options::default());
    let ptx = inspected.kernel("sm_90", "three");
    Shape { text: &ptx }.lacks("call").lacks(".local").has(RECORD).has("exit;");
    assert_eq!(ptx.matches("atom.").count(), 1, "{ptx}");
    // In place of the values, the messages and the code that formats them: the places, and the name of their file.
    let whole = inspected.ptx("sm_90");
    Shape { text: &whole }.lacks(".func");
    assert!(whole.lines().filter(|line| line.starts_with(".global")).count() <= 5, "{whole}");
    for (arch, resources) in &inspected.built.manifest.kernels[0].resources {
        assert_eq!(resources.stack_bytes, 0, "{arch}");
    }
    assert!(inspected.built.manifest.formatters.is_empty());
}

/// A loop over memory that a bounds check may leave: the panic must not force the sum into memory.
#[test]
fn a_panic_in_a_loop_keeps_values_in_registers() {
    let lib = "
        #[kernel]
        pub fn sums(x: &[f32], at: &[u32], out: PerThread<f32>) {
            for (_, out) in out {
                for at in at {
                    *out += x[*at as usize];
                }
            }
        }";
    let stores = |options: Options, name| {
        built(name, lib, options).kernel("sm_90", "sums").matches("st.global.b32").count()
    };
    assert_eq!(stores(Options::default(), "panic_loop"), stores(trap(), "panic_loop_trap"));
}

#[test]
fn kernels_that_cannot_panic_have_no_record() {
    let lib = "#[kernel] pub fn calm(out: PerThread<u32>) { for (i, out) in out { *out = i as u32; } }";
    Shape { text: &built("panic_calm", lib, Options::default()).ptx("sm_90") }
        .lacks("gpukernel_panic")
        .lacks("trap");
}

#[test]
fn traps_are_traps() {
    let ptx = built("panic_trap", THREE, trap()).ptx("sm_90");
    Shape { text: &ptx }.has("trap;").lacks("gpukernel_panic").lacks("call").lacks("three.rs");
    let both = Options { profile: Profile::Dev, ..trap() };
    let ptx = built("panic_trap_dev", THREE, both).ptx("sm_90");
    Shape { text: &ptx }.has("trap;").lacks("gpukernel_panic").lacks("call");
}

#[test]
fn dev_builds_check_for_overflow_and_record_values() {
    let lib = "
        #[kernel]
        pub fn sums(x: &[u32], out: PerThread<u32>) {
            for (i, out) in out {
                *out = x[i] + x[i];
                assert!(*out < 1000, \"{out} in {i:?}\");
            }
        }";
    let inspected = built("panic_dev", lib, dev());
    let formatters = &inspected.built.manifest.formatters;
    for name in ["<&mut u32 as core::fmt::Display>::fmt", "<usize as core::fmt::Debug>::fmt"] {
        assert!(formatters.iter().any(|known| known == name), "{formatters:?}");
    }
    let ptx = inspected.ptx("sm_90");
    Shape { text: &ptx }
        .has("__gpukernel_panic_message")
        .has("panic_const_add_overflow")
        .lacks("callprototype");
    let release = built("panic_dev_release", lib, Options::default()).ptx("sm_90");
    Shape { text: &release }.lacks("__gpukernel_panic_message");
}

/// rustc 1.96 named them so that they were not known as functions that format: then all of `core`'s formatting was compiled, on which
/// ptxas took minutes.
#[test]
fn types_of_users_have_their_names_in_messages() {
    let lib = "
        #[derive(Debug)]
        pub struct Missing<T>(T);

        #[inline(never)]
        fn find(x: &[u32], i: usize) -> Result<u32, Missing<usize>> {
            x.get(i).copied().ok_or(Missing(i))
        }

        #[kernel]
        pub fn copy(x: &[u32], out: PerThread<u32>) {
            for (i, out) in out {
                *out = find(x, i).unwrap();
            }
        }";
    let inspected = built("panic_names", lib, dev());
    let formatters = &inspected.built.manifest.formatters;
    let name = "<panic_names::Missing<usize> as core::fmt::Debug>::fmt";
    assert!(formatters.iter().any(|known| known == name), "{formatters:?}");
    Shape { text: &inspected.ptx("sm_90") }.lacks("callprototype").lacks("debug_tuple");
}

/// How long a number is as text.
const LENGTH: &str = "
    struct Count(usize);

    impl core::fmt::Write for Count {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }

    fn length(x: u32) -> u32 {
        let mut count = Count(0);
        let written = core::fmt::Write::write_fmt(&mut count, format_args!(\"{x}\"));
        assert!(written.is_ok());
        count.0 as u32
    }
";

/// Kernels may format text themselves: then functions that format are called, and must be there.
#[test]
fn functions_that_kernels_format_with_stay() {
    let lib = format!(
        "{LENGTH}
        #[kernel]
        pub fn lengths(x: &[u32], out: PerThread<u32>) {{
            for (i, out) in out {{ *out = length(x[i]); }}
        }}"
    );
    let inspected = built("panic_formats", &lib, dev());
    assert!(inspected.built.manifest.formatters.is_empty(), "{:?}", inspected.built.manifest.formatters);
    let ptx = inspected.ptx("sm_90");
    assert!(ptx.contains("callprototype") || ptx.contains("pad_integral"), "{ptx}");
}

/// Kernels of CUDA C format by what they call.
#[test]
fn functions_that_exported_functions_format_with_stay() {
    let lib = format!(
        "{LENGTH}
        #[gpu_std::device(export)]
        pub extern \"C\" fn length_in_c(x: u32) -> u32 {{ length(x) }}"
    );
    let inspected = built("panic_formats_in_c", &lib, dev());
    assert!(inspected.built.manifest.formatters.is_empty(), "{:?}", inspected.built.manifest.formatters);
}

/// A function that two kernels call asks which one it is in; a kernel knows it.
#[test]
fn only_kernels_that_share_a_function_that_panics_say_who_they_are() {
    let lib = "
        #[inline(never)]
        fn divide(a: u32, b: u32) -> u32 { a / b }
        #[kernel]
        pub fn one(out: PerThread<u32>) { for (i, out) in out { *out = divide(*out, i as u32); } }
        #[kernel]
        pub fn two(out: PerThread<u32>) { for (i, out) in out { *out = divide(7, *out) + i as u32; } }
        #[kernel]
        pub fn alone(x: &[u32], out: PerThread<u32>) { for (i, out) in out { *out = x[i]; } }";
    let inspected = built("panic_shared", lib, Options::default());
    for (kernel, says) in [("one", true), ("two", true), ("alone", false)] {
        let ptx = inspected.kernel("sm_90", kernel);
        assert_eq!(ptx.contains("gpukernel_kernel"), says, "{kernel}: {ptx}");
    }
}

/// The record is written by instructions that follow one another, so that they need few registers.
#[test]
fn recording_takes_no_registers() {
    let shapes = |options| {
        let options = Options { emit: vec![Emit::Cubin], ..options };
        KernelCrate::fixture("shapes").inspect(options).built.manifest.kernels
    };
    for (recorded, trapped) in shapes(Options::default()).iter().zip(shapes(trap())) {
        for arch in default_archs() {
            let (recorded_registers, trapped_registers) =
                (recorded.resources[&arch].registers, trapped.resources[&arch].registers);
            // Below 24 registers every GPU runs as many threads as it can.
            let allowed = (trapped_registers + 2).max(24);
            assert!(
                recorded_registers <= allowed,
                "{} for {arch}: {recorded_registers} registers instead of {trapped_registers}",
                recorded.name
            );
        }
    }
}

/// A kernel whose panics the compiler rules out, and one with three of them.
fn promising(contract: &str) -> String {
    format!(
        "
    #[inline(never)]
    fn pick(x: &[u32], i: usize) -> u32 {{ x[i] }}

    #[kernel({contract})]
    pub fn sums(x: &[u32], y: PerBlock<u32>) {{
        for (i, y) in y {{
            for k in 0..x.len() {{ *y += x[k]; }}
            for k in i..i + 4 {{ *y += x[k]; }}
            *y += pick(x, i);
            *y = x.get(7).unwrap() / *y;
        }}
    }}

    #[kernel(no_panics)]
    pub fn scale(a: f32, y: PerThread<f32>) {{ for (_, y) in y {{ *y *= a; }} }}"
    )
}

#[test]
fn panics_that_are_left_are_listed_with_their_lines() {
    let built = built("panics_left", &promising(""), Options::default()).built;
    let places = |kernel: &str| -> Vec<_> { built.panics[kernel].iter().map(ToString::to_string).collect() };
    assert!(places("panics_left::scale").is_empty());
    // The file begins with two lines for all, and `x[k]` of the first loop is ruled out.
    assert_eq!(
        places("panics_left::sums"),
        [
            "src/lib.rs:5:43: bounds check",
            "src/lib.rs:11:39: bounds check (in a loop)",
            "src/lib.rs:13:18: division by zero (in a loop)",
            "src/lib.rs:13:27: unwrap or expect (in a loop)"
        ]
    );
}

/// Also where one line and column stands for two of them, and where values are formatted.
#[test]
fn panics_are_known_by_their_kinds() {
    let lib = "
        #[kernel]
        pub fn kinds(x: &[u32], n: u32, out: PerBlock<u32>) {
            for (i, out) in out {
                *out = x[i] / n;
                *out += x.get(n as usize).copied().expect(\"there\");
                *out += x[n as usize..][1];
                assert_eq!(*out, 7);
                if n * 3 == 9 { unreachable!(\"{n}\") }
            }
        }";
    let panics = |name, options| -> Vec<_> {
        let built = built(name, lib, options).built;
        built.panics[&format!("{name}::kinds")].iter().map(ToString::to_string).collect()
    };
    let release = [
        "src/lib.rs:7:24: bounds check or division by zero (in a loop)",
        "src/lib.rs:8:52: unwrap or expect (in a loop)",
        "src/lib.rs:9:25: bounds check (in a loop)",
        "src/lib.rs:10:17: panic or assert (in a loop)",
        "src/lib.rs:11:33: panic or assert (in a loop)",
    ];
    assert_eq!(panics("panic_kinds", Options::default()), release);
    let dev = panics("panic_kinds_dev", dev());
    let has = |part: &str| dev.iter().any(|place| place.contains(part));
    assert!(has("11:20: overflow") && has("7:24: bounds check or division by zero"), "{dev:?}");
}

/// The location of the first check that fails was chosen by four instructions before the branch on all of them, in each round.
#[test]
fn locations_are_chosen_where_a_panic_is_recorded() {
    let source = "#[kernel(block = 128)]
        pub fn sum(a: &[f32], b: &[f32], c: &[f32], y: PerThread<f32>) {
            for (i, y) in y {
                *y = a[i] + b[i] + c[i];
            }
        }";
    let ptx = KernelCrate::written("locations", source)
        .inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() })
        .kernel("sm_90", "sum");
    let hot = ptx.split("ret;").next().unwrap();
    assert!(!hot.contains("selp") && !hot.contains("anon"), "{hot}");
}
