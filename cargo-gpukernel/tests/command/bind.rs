//! `cargo gpukernel bind`, as users run it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use gpukernel_random_inputs::config;
use proptest::{collection::vec, prelude::*};

fn bind(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
    command.current_dir(dir).args(["gpukernel", "bind"]).args(arguments);
    command.output().expect("cargo built the program")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("messages are UTF-8")
}

/// The folder of the example.
fn example() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cuda-c"))
}

#[test]
fn the_example_has_the_declarations_of_its_headers() {
    for (header, module, more) in [
        ("cuda/particle.h", "kernels/src/particle.rs", &["--device-copy", "Particle"][..]),
        ("cuda/block_sum.h", "kernels/src/block_sum.rs", &[]),
    ] {
        let output = bind(example(), &[&[header], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let words = |text: &str| text.split_whitespace().collect::<String>();
        let kept = fs::read_to_string(example().join(module)).unwrap();
        // rustfmt of the repository breaks lines elsewhere, and leaves a comma out or in.
        let plain = |text: &str| words(text).replace(",)", ")").replace(",}", "}");
        assert_eq!(plain(text(&output.stdout)), plain(&kept), "{module}");
    }
}

#[test]
fn every_kind_of_declaration() {
    let dir = tempfile::tempdir().unwrap();
    let header = "
        #define LIMIT 12
        enum class Side : unsigned char { Left, Right };
        struct Node { const Node *next; float4 bounds; double2 range; Side side; bool on; };
        extern \"C\" __device__ float4 blend(float4 a, const Node *node, dim3 grid);
        __device__ float overloaded(float x);
    ";
    fs::write(dir.path().join("kinds.h"), header).unwrap();
    let output = bind(dir.path(), &["kinds.h"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rust = text(&output.stdout);
    for part in [
        "pub const LIMIT: u32 = 12;",
        "pub const Right: Side = Side(1);",
        "[\"Size of Node\"][::core::mem::size_of::<Node>() - 64usize];",
        "use gpu_std::vector::f32x4 as float4;",
        "use gpu_std::Dim3 as dim3;",
        "#[gpu_std::device(import)]\nunsafe extern \"C\" {",
        "pub fn blend(a: float4, node: *const Node, grid: dim3) -> float4;",
        "#[link_name = \"_Z10overloadedf\"]",
        "#[derive(Debug, Copy, Clone, PartialEq)]\npub struct Node {",
    ] {
        assert!(rust.contains(part), "`{part}` is missing in\n{rust}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_told_with_the_place() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("wrong.h"), "extern \"C\" __device__ flaot wrong(int x);\n").unwrap();
    let output = bind(dir.path(), &["wrong.h"]);
    assert!(!output.status.success());
    let message = text(&output.stderr);
    assert!(message.contains("cannot read wrong.h") && message.contains("wrong.h:1:23"), "{message}");
    assert!(message.contains("unknown type name 'flaot'"), "{message}");
    let message = text(&bind(dir.path(), &["missing.h"]).stderr).to_owned();
    assert!(message.contains("there is no header missing.h"), "{message}");
}

/// Declarations of C and C++, most of them right.
fn declaration() -> impl Strategy<Value = String> {
    let ty = prop::sample::select(&[
        "int",
        "unsigned char",
        "float4",
        "const double *",
        "dim3",
        "size_t",
        "long long",
        "bool",
        "void",
        "struct S0",
        "__int128",
        "float (*)(int)",
        "int[3]",
        "nonsense",
    ]);
    let name = "[a-z][a-z0-9_]{0,3}|r#type|match|self|unsafe";
    let field = (ty.clone(), name).prop_map(|(ty, name)| format!("{ty} {name}"));
    let fields = vec(field, 0..4);
    prop_oneof![
        (ty.clone(), name, fields.clone()).prop_map(|(ty, name, args)| format!(
            "extern \"C\" __device__ {ty} {name}({});",
            args.join(", ")
        )),
        (0..3_u8, fields.clone()).prop_map(|(number, fields)| {
            format!(
                "struct S{number} {{ {} }};",
                fields.into_iter().map(|field| field + "; ").collect::<String>()
            )
        }),
        (0..3_u8, vec(name, 0..3))
            .prop_map(|(number, names)| format!("enum E{number} {{ {} }};", names.join(", "))),
        (name, any::<i64>()).prop_map(|(name, value)| format!("#define {name} {value}")),
        (name, "[ -~]{0,12}").prop_map(|(name, value)| format!("#define {name} {value:?}")),
        (ty, name).prop_map(|(ty, name)| format!("typedef {ty} {name};")),
        Just("template <class T> __device__ T twice(T x) { return x + x; }".to_owned()),
        "[ -~]{0,20}",
    ]
}

/// Bindings or an error with the place, never a panic: whatever the header holds. Always the same headers; `.ci/run fuzz` takes more.
#[test]
fn fuzz_headers() {
    let config = config();
    // Each starts a process with libclang.
    let config = ProptestConfig { cases: config.cases.div_ceil(16), max_shrink_iters: 200, ..config };
    proptest!(config, |(declarations in vec(declaration(), 1..6))| {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("odd.h"), declarations.join("\n")).unwrap();
        let output = bind(dir.path(), &["odd.h"]);
        let message = String::from_utf8_lossy(&output.stderr);
        prop_assert!(!message.contains("panicked"), "{}", message);
        match output.status.code() {
            Some(0) => prop_assert!(text(&output.stdout).starts_with("//! Declarations of odd.h")),
            Some(1) => prop_assert!(message.contains("odd.h"), "{}", message),
            code => prop_assert!(false, "{:?}: {}", code, message),
        }
    });
}
