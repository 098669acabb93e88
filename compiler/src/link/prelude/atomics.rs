//! Atomic operations and fences: the text of those functions that a module declares, written when it does.
//!
//! A function is named `__gpukernel_atomic_<operation>_<type>`; its last parameter says how: for which scope, in which order. It is
//! a constant wherever gpu-std calls, so that of the cases in a function one is left when it is inlined.
//!
//! What LLVM 22 makes of an `atomicrmw` has the device's scope and no order, whatever it says (`atom.add.u32`). So orders are
//! fences around it, as PTX defines release and acquire patterns (PTX ISA, "Memory Consistency Model"), and operations for the
//! whole system are written in PTX. Loads, stores and `cmpxchg` are translated as they should be.

use std::fmt::Write;

const PREFIX: &str = "__gpukernel_atomic_";
const FENCE: &str = "__gpukernel_fence";

/// The name that gpu-std gives to each scope, by its number there, and how LLVM writes it.
const SCOPES: [&str; 3] = ["syncscope(\"block\") ", "syncscope(\"device\") ", ""];

/// How PTX writes them.
const SCOPES_IN_PTX: [&str; 3] = ["cta", "gpu", "sys"];

/// The orders, by their numbers in gpu-std.
const ORDERS: [Order; 5] = [
    Order {
        name: "monotonic",
        before: None,
        after: false,
        load: Some("monotonic"),
        store: Some("monotonic"),
    },
    Order { name: "acquire", before: None, after: true, load: Some("acquire"), store: None },
    Order { name: "release", before: Some("release"), after: false, load: None, store: Some("release") },
    Order { name: "acq_rel", before: Some("release"), after: true, load: None, store: None },
    Order {
        name: "seq_cst",
        before: Some("seq_cst"),
        after: true,
        load: Some("seq_cst"),
        store: Some("seq_cst"),
    },
];

struct Order {
    name: &'static str,
    /// The fence before an operation.
    before: Option<&'static str>,
    /// Whether an acquire fence follows.
    after: bool,
    load: Option<&'static str>,
    store: Option<&'static str>,
}

/// A type, as gpu-std, LLVM and inline assembly call it.
struct Type {
    /// What it travels as: numbers of 16 bits are integers in gpu-std.
    passed: &'static str,
    /// What it is calculated with; a vector is in PTX only, because LLVM 22 makes a loop of it.
    llvm: &'static str,
    bytes: u32,
    /// The constraint of a register.
    register: char,
}

/// An operation that reads and writes.
struct Operation {
    name: &'static str,
    llvm: &'static str,
    /// What it is in PTX, its type included.
    ptx: &'static str,
}

/// The text of the function of this name, if it is one of these.
pub(super) fn define(name: &str) -> Option<String> {
    if name == FENCE {
        return Some(fence());
    }
    let (operation, type_name) = name.strip_prefix(PREFIX)?.split_once('_')?;
    let ty = type_of(type_name)?;
    match operation {
        "load" => Some(load(name, &ty)),
        "store" => Some(store(name, &ty)),
        "cas" if ty.bytes == 2 => Some(compare_exchange_16(name, &ty)),
        "cas" => Some(compare_exchange(name, &ty)),
        _ => {
            let operations = operations(type_name);
            operations.iter().find(|known| known.name == operation).map(|known| change(name, &ty, known))
        }
    }
}

fn type_of(name: &str) -> Option<Type> {
    let (passed, llvm, bytes, register) = match name {
        "u8" => ("i8", "i8", 1, 'h'),
        "u16" => ("i16", "i16", 2, 'h'),
        "f16" => ("i16", "half", 2, 'h'),
        "bf16" => ("i16", "bfloat", 2, 'h'),
        "u32" | "i32" => ("i32", "i32", 4, 'r'),
        "f16x2" => ("i32", "<2 x half>", 4, 'r'),
        "bf16x2" => ("i32", "<2 x bfloat>", 4, 'r'),
        "u64" | "i64" => ("i64", "i64", 8, 'l'),
        "f32" => ("float", "float", 4, 'f'),
        "f64" => ("double", "double", 8, 'd'),
        _ => return None,
    };
    Some(Type { passed, llvm, bytes, register })
}

/// What can be done to a type in one instruction since sm_60; to an f16 since sm_70, to a bf16 since sm_90 (PTX ISA, `atom`).
fn operations(type_name: &str) -> &'static [Operation] {
    macro_rules! operations {
        ($($name:literal $llvm:literal $ptx:literal;)*) => {
            &[$(Operation { name: $name, llvm: $llvm, ptx: $ptx }),*]
        };
    }
    match type_name {
        "u32" => operations! {
            "add" "add" "add.u32";
            "swap" "xchg" "exch.b32";
            "and" "and" "and.b32";
            "or" "or" "or.b32";
            "xor" "xor" "xor.b32";
            "min" "umin" "min.u32";
            "max" "umax" "max.u32";
            "inc" "uinc_wrap" "inc.u32";
            "dec" "udec_wrap" "dec.u32";
        },
        "u64" => operations! {
            "add" "add" "add.u64";
            "swap" "xchg" "exch.b64";
            "and" "and" "and.b64";
            "or" "or" "or.b64";
            "xor" "xor" "xor.b64";
            "min" "umin" "min.u64";
            "max" "umax" "max.u64";
        },
        "i32" => operations! {
            "min" "min" "min.s32";
            "max" "max" "max.s32";
        },
        "i64" => operations! {
            "min" "min" "min.s64";
            "max" "max" "max.s64";
        },
        "f16" => operations! {
            "add" "fadd" "add.noftz.f16";
        },
        "bf16" => operations! {
            "add" "fadd" "add.noftz.bf16";
        },
        "f16x2" => operations! {
            "add" "fadd" "add.noftz.f16x2";
        },
        "bf16x2" => operations! {
            "add" "fadd" "add.noftz.bf16x2";
        },
        "f32" => operations! {
            "add" "fadd" "add.f32";
        },
        "f64" => operations! {
            "add" "fadd" "add.f64";
        },
        _ => &[],
    }
}

/// A function with a case for each scope and each order that `case` has text for. The last of them, the strongest, is also what
/// no number stands for.
fn cases(head: &str, case: impl Fn(usize, &Order) -> Option<String>) -> String {
    let (mut table, mut bodies, mut last) = (String::new(), String::new(), 0);
    for scope in 0..SCOPES.len() {
        for (number, order) in ORDERS.iter().enumerate() {
            let Some(body) = case(scope, order) else { continue };
            // As `How::HOW` in gpu-std.
            last = scope * 8 + number;
            let _ = write!(table, " i32 {last}, label %how{last}");
            let _ = write!(bodies, "how{last}:\n{body}");
        }
    }
    format!("{head} #0 {{\n  switch i32 %how, label %how{last} [{table} ]\n{bodies}}}\n\n")
}

fn load(name: &str, Type { llvm, bytes, .. }: &Type) -> String {
    cases(&format!("define noundef {llvm} @{name}(ptr noundef %at, i32 noundef %how)"), |scope, order| {
        let (scope_name, order) = (SCOPES[scope], order.load?);
        let value = format!("%value{scope}.{order}");
        Some(format!(
            "  {value} = load atomic {llvm}, ptr %at {scope_name}{order}, align {bytes}\n  ret {llvm} {value}\n"
        ))
    })
}

fn store(name: &str, Type { llvm, bytes, .. }: &Type) -> String {
    let head = format!("define void @{name}(ptr noundef %at, {llvm} noundef %value, i32 noundef %how)");
    cases(&head, |scope, order| {
        let (scope, order) = (SCOPES[scope], order.store?);
        Some(format!("  store atomic {llvm} %value, ptr %at {scope}{order}, align {bytes}\n  ret void\n"))
    })
}

fn compare_exchange(name: &str, Type { llvm, bytes, .. }: &Type) -> String {
    let head = format!(
        "define noundef {llvm} @{name}(ptr noundef %at, {llvm} noundef %current, {llvm} noundef %new, i32 noundef %how)"
    );
    cases(&head, |scope, order| {
        let (pair, found) = (format!("%pair{scope}.{}", order.name), format!("%found{scope}.{}", order.name));
        let (scope, order, failure) = (SCOPES[scope], order.name, order.failure());
        Some(format!(
            "  {pair} = cmpxchg ptr %at, {llvm} %current, {llvm} %new {scope}{order} {failure}, align {bytes}\n  \
             {found} = extractvalue {{ {llvm}, i1 }} {pair}, 0\n  \
             ret {llvm} {found}\n"
        ))
    })
}

/// In PTX, because LLVM 22 makes of it a loop of 32 bits, which reads and writes what lies beside.
fn compare_exchange_16(name: &str, Type { llvm, register, .. }: &Type) -> String {
    let head = format!(
        "define noundef {llvm} @{name}(ptr noundef %at, {llvm} noundef %current, {llvm} noundef %new, i32 noundef %how)"
    );
    cases(&head, |scope, order| {
        let case = format!("{scope}.{}", order.name);
        let (in_ptx, scope) = (SCOPES_IN_PTX[scope], SCOPES[scope]);
        let mut body = String::new();
        // PTX has `seq_cst` as a fence only.
        let sem = match order.name {
            "monotonic" => "relaxed",
            "seq_cst" => {
                let _ = writeln!(body, "  fence {scope}seq_cst");
                "acquire"
            }
            sem => sem,
        };
        body += &in_each_space(&case, llvm, |space| {
            format!(
                "asm sideeffect \"atom.{sem}.{in_ptx}.{space}.cas.b16 $0, [$1], $2, $3;\", \
                 \"={register},l,{register},{register},~{{memory}}\"(ptr addrspace({}) %{space}{case}, \
                 {llvm} %current, {llvm} %new)",
                number_of(space)
            )
        });
        let _ = writeln!(body, "  ret {llvm} %before{case}");
        Some(body)
    })
}

fn change(name: &str, ty: &Type, operation: &Operation) -> String {
    let &Type { passed, llvm, bytes, register } = ty;
    let head = format!(
        "define noundef {passed} @{name}(ptr noundef %at, {passed} noundef %value, i32 noundef %how)"
    );
    let text = cases(&head, |scope, order| {
        let case = format!("{scope}.{}", order.name);
        let (scope_name, in_ptx) = (SCOPES[scope], SCOPES_IN_PTX[scope]);
        let mut body = String::new();
        if let Some(fence) = order.before {
            let _ = writeln!(body, "  fence {scope_name}{fence}");
        }
        if scope_name.is_empty() || llvm.starts_with('<') {
            body += &in_each_space(&case, passed, |space| {
                format!(
                    "asm sideeffect \"atom.relaxed.{in_ptx}.{space}.{} $0, [$1], $2;\", \
                     \"={register},l,{register},~{{memory}}\"(ptr addrspace({}) %{space}{case}, {passed} %value)",
                    operation.ptx,
                    number_of(space)
                )
            });
        } else {
            let operation = operation.llvm;
            let change = format!("atomicrmw {operation} ptr %at, {llvm}");
            let how = format!("{scope_name}monotonic, align {bytes}");
            let _ = if passed == llvm {
                writeln!(body, "  %before{case} = {change} %value {how}")
            } else {
                writeln!(
                    body,
                    "  %typed{case} = bitcast {passed} %value to {llvm}\n  \
                     %found{case} = {change} %typed{case} {how}\n  \
                     %before{case} = bitcast {llvm} %found{case} to {passed}"
                )
            };
        }
        if order.after {
            let _ = writeln!(body, "  fence {scope_name}acquire");
        }
        let _ = writeln!(body, "  ret {passed} %before{case}");
        Some(body)
    });
    // What not every architecture has stays out of line until code for one is emitted, as `link::arch` says.
    if llvm.contains("bfloat") {
        return text.replacen(" #0 {", " noinline nounwind willreturn \"gpukernel-needs\"=\"sm_90\" {", 1);
    }
    text
}

/// An operation in PTX for shared and one for global memory. LLVM knows mostly which it is, and drops the other one; it does not
/// look into the text of an instruction with a generic address.
fn in_each_space(case: &str, result: &str, call: impl Fn(&str) -> String) -> String {
    let mut body = format!(
        "  %is_shared{case} = call i1 @llvm.nvvm.isspacep.shared(ptr %at)\n  \
         br i1 %is_shared{case}, label %in_shared{case}, label %in_global{case}\n"
    );
    for space in ["shared", "global"] {
        let _ = writeln!(
            body,
            "in_{space}{case}:\n  \
             %{space}{case} = addrspacecast ptr %at to ptr addrspace({})\n  \
             %of_{space}{case} = call {result} {}\n  \
             br label %done{case}",
            number_of(space),
            call(space)
        );
    }
    let _ = writeln!(
        body,
        "done{case}:\n  \
         %before{case} = phi {result} [ %of_shared{case}, %in_shared{case} ], [ %of_global{case}, %in_global{case} ]"
    );
    body
}

/// That of an address space.
fn number_of(space: &str) -> u32 {
    if space == "shared" { 3 } else { 1 }
}

fn fence() -> String {
    cases(&format!("define void @{FENCE}(i32 noundef %how)"), |scope, order| {
        let orders_nothing = order.before.is_none() && !order.after;
        (!orders_nothing).then(|| format!("  fence {}{}\n  ret void\n", SCOPES[scope], order.name))
    })
}

impl Order {
    /// That of a `cmpxchg` which finds something else.
    fn failure(&self) -> &'static str {
        match self.load {
            Some(load) => load,
            None if self.after => "acquire",
            None => "monotonic",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_a_case_for_each_scope_and_order() {
        let cases = |name: &str| define(name).map(|text| text.matches("\nhow").count());
        assert_eq!(cases("__gpukernel_atomic_add_u32"), Some(15));
        assert_eq!(cases("__gpukernel_atomic_cas_u64"), Some(15));
        assert_eq!(cases("__gpukernel_atomic_add_f16"), Some(15));
        assert_eq!(cases("__gpukernel_atomic_load_u8"), Some(9), "no release, no acq_rel");
        assert_eq!(cases("__gpukernel_atomic_store_u16"), Some(9), "no acquire, no acq_rel");
        assert_eq!(cases("__gpukernel_fence"), Some(12), "no monotonic");
    }

    #[test]
    fn orders_of_changes_are_fences() {
        let text = define("__gpukernel_atomic_max_i64").unwrap();
        let case = |number: u32| {
            let from = text.find(&format!("\nhow{number}:")).unwrap();
            text[from..].split("  ret").next().unwrap().lines().skip(2).map(str::trim).collect::<Vec<_>>()
        };
        assert_eq!(
            case(0),
            [
                r#"%before0.monotonic = atomicrmw max ptr %at, i64 %value syncscope("block") monotonic, align 8"#
            ]
        );
        assert_eq!(
            case(8 + 3),
            [
                r#"fence syncscope("device") release"#,
                r#"%before1.acq_rel = atomicrmw max ptr %at, i64 %value syncscope("device") monotonic, align 8"#,
                r#"fence syncscope("device") acquire"#
            ]
        );
        assert_eq!(
            case(16 + 4),
            [
                "fence seq_cst",
                "%is_shared2.seq_cst = call i1 @llvm.nvvm.isspacep.shared(ptr %at)",
                "br i1 %is_shared2.seq_cst, label %in_shared2.seq_cst, label %in_global2.seq_cst",
                "in_shared2.seq_cst:",
                "%shared2.seq_cst = addrspacecast ptr %at to ptr addrspace(3)",
                r#"%of_shared2.seq_cst = call i64 asm sideeffect "atom.relaxed.sys.shared.max.s64 $0, [$1], $2;", "=l,l,l,~{memory}"(ptr addrspace(3) %shared2.seq_cst, i64 %value)"#,
                "br label %done2.seq_cst",
                "in_global2.seq_cst:",
                "%global2.seq_cst = addrspacecast ptr %at to ptr addrspace(1)",
                r#"%of_global2.seq_cst = call i64 asm sideeffect "atom.relaxed.sys.global.max.s64 $0, [$1], $2;", "=l,l,l,~{memory}"(ptr addrspace(1) %global2.seq_cst, i64 %value)"#,
                "br label %done2.seq_cst",
                "done2.seq_cst:",
                "%before2.seq_cst = phi i64 [ %of_shared2.seq_cst, %in_shared2.seq_cst ], [ %of_global2.seq_cst, %in_global2.seq_cst ]",
                "fence acquire"
            ]
        );
    }

    #[test]
    fn sixteen_bits_are_exchanged_alone() {
        let text = define("__gpukernel_atomic_cas_u16").unwrap();
        assert_eq!(text.matches("\nhow").count(), 15);
        assert!(!text.contains("cmpxchg"), "{text}");
        for instruction in ["relaxed.cta", "acquire.gpu", "release.sys", "acq_rel.gpu"] {
            assert!(
                text.contains(&format!("\"atom.{instruction}.global.cas.b16 $0, [$1], $2, $3;\"")),
                "{instruction}"
            );
        }
        let strongest = text.split("\nhow20:\n").nth(1).unwrap();
        assert!(
            strongest.starts_with("  fence seq_cst\n")
                && strongest.contains("atom.acquire.sys.shared.cas.b16")
        );
    }

    #[test]
    fn numbers_of_16_bits_travel_as_integers() {
        let text = define("__gpukernel_atomic_add_bf16").unwrap();
        assert!(text.starts_with(
            "define noundef i16 @__gpukernel_atomic_add_bf16(ptr noundef %at, i16 noundef %value"
        ));
        assert!(text.contains(r#"willreturn "gpukernel-needs"="sm_90" {"#), "{text}");
        assert!(text.contains("atomicrmw fadd ptr %at, bfloat %typed1.monotonic syncscope"));
        assert!(text.contains("atom.relaxed.sys.global.add.noftz.bf16 $0, [$1], $2;"));
        assert!(!define("__gpukernel_atomic_add_f16").unwrap().contains("gpukernel-needs"));
        let pair = define("__gpukernel_atomic_add_f16x2").unwrap();
        assert!(
            pair.contains("atom.relaxed.cta.shared.add.noftz.f16x2 $0, [$1], $2;")
                && !pair.contains("atomicrmw")
        );
    }

    #[test]
    fn other_names_are_of_other_pieces() {
        let names = [
            "__gpukernel_barrier",
            "__gpukernel_atomic_add_u8",
            "__gpukernel_atomic_add_u16",
            "__gpukernel_atomic_inc_u64",
            "__gpukernel_atomic_add",
        ];
        assert_eq!(names.map(define), [const { None }; 5]);
    }
}
