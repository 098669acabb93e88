//! Compares the table of LLVM's functions with the declarations of llvm-sys, which are generated from LLVM's headers. Nothing of LLVM is linked
//! for that: only types are asked for.

use std::{
    any,
    ffi::{c_char, c_int, c_uint, c_ulonglong, c_void},
};

use llvm_sys::{
    analysis::*, bit_reader::*, bit_writer::*, core::*, debuginfo::*, error::*, error_handling::*,
    ir_reader::*, linker::*, support::*, target::*, target_machine::*, transforms::pass_builder::*,
};

use super::library::{self, with_functions};

/// llvm-sys's names of opaque types, and ours.
const OPAQUE: [(&str, &str); 3] = [
    ("LLVMAttributeRef", "LLVMAttribute"),
    ("LLVMDiagnosticInfo", "LLVMDiagnostic"),
    ("LLVMError", "LLVMErrorBox"),
];

/// Enumerations of C, which are integers in the table.
const ENUMERATIONS: [&str; 14] = [
    "LLVMAtomicOrdering",
    "LLVMCodeGenFileType",
    "LLVMCodeGenOptLevel",
    "LLVMCodeModel",
    "LLVMDiagnosticSeverity",
    "LLVMInlineAsmDialect",
    "LLVMIntPredicate",
    "LLVMLinkage",
    "LLVMModuleFlagBehavior",
    "LLVMOpcode",
    "LLVMRelocMode",
    "LLVMTypeKind",
    "LLVMVerifierFailureAction",
    "LLVMVisibility",
];

/// The type of what a function returns that is not called, so that what it mentions need not be linked.
fn type_of<F>(_: impl FnOnce() -> F) -> &'static str {
    any::type_name::<F>()
}

/// A type that the compiler is to find out.
macro_rules! unknown {
    ($type:ty) => {
        _
    };
}

/// The name of each function, its type in the table, and its type in llvm-sys.
macro_rules! types {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        [$((
            stringify!($name),
            any::type_name::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(),
            type_of(|| {
                let declared: unsafe extern "C" fn($(unknown!($argument)),*) -> _ = $name;
                declared
            }),
        ),)*]
    };
}

/// A type as llvm-sys or the table has it, with one name for each opaque type and `i32` for enumerations.
fn normal(of_function: &str) -> String {
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let parts = of_function.split_inclusive(|c| !is_of_path(c)).map(|part| {
        let (path, rest) = part.split_at(part.trim_end_matches(|c| !is_of_path(c)).len());
        let name = path.rsplit("::").next().unwrap_or(path).replacen("LLVMOpaque", "LLVM", 1);
        let ours = OPAQUE.iter().find(|(theirs, _)| *theirs == name).map_or(name.as_str(), |(_, ours)| ours);
        let ours = if ENUMERATIONS.contains(&ours) { "i32" } else { ours };
        format!("{ours}{rest}")
    });
    parts.collect()
}

#[test]
#[expect(deprecated, reason = "a function whose successor LLVM 22 introduced")]
fn functions_have_the_types_that_llvm_declares() {
    let types = {
        use library::*;
        with_functions!(types)
    };
    for (name, ours, theirs) in types {
        assert_eq!(normal(ours), normal(theirs), "{name}");
    }
}

#[test]
fn types_that_differ_are_told_apart() {
    assert_eq!(
        normal("unsafe extern \"C\" fn(*mut a::LLVMOpaqueError, b::LLVMLinkage) -> i8"),
        "unsafe extern \"C\" fn(*mut LLVMErrorBox, i32) -> i8"
    );
    for other in [
        "fn(*mut x::LLVMType)",
        "fn(*const x::LLVMValue)",
        "fn(*mut *mut x::LLVMValue)",
        "fn(*mut x::LLVMValue) -> i32",
    ] {
        assert_ne!(normal("fn(*mut y::LLVMValue)"), normal(other));
    }
}
