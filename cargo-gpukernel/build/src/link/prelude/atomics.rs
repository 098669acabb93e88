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
        "cas" => Some(compare_exchange(name, &ty)),
        _ => {
            let operations = operations(type_name);
            operations.iter().find(|known| known.name == operation).map(|known| change(name, &ty, known))
        }
    }
}

fn type_of(name: &str) -> Option<Type> {
    let (llvm, bytes, register) = match name {
        "u8" => ("i8", 1, 'h'),
        "u16" => ("i16", 2, 'h'),
        "u32" | "i32" => ("i32", 4, 'r'),
        "u64" | "i64" => ("i64", 8, 'l'),
        "f32" => ("float", 4, 'f'),
        "f64" => ("double", 8, 'd'),
        _ => return None,
    };
    Some(Type { llvm, bytes, register })
}

/// What can be done to a type in one instruction since sm_60.
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

fn change(name: &str, Type { llvm, bytes, register }: &Type, operation: &Operation) -> String {
    let head =
        format!("define noundef {llvm} @{name}(ptr noundef %at, {llvm} noundef %value, i32 noundef %how)");
    cases(&head, |scope, order| {
        let before = format!("%before{scope}.{}", order.name);
        let scope_name = SCOPES[scope];
        let mut body = String::new();
        if let Some(fence) = order.before {
            let _ = writeln!(body, "  fence {scope_name}{fence}");
        }
        let _ = if scope_name.is_empty() {
            writeln!(
                body,
                "  {before} = call {llvm} asm sideeffect \"atom.relaxed.sys.{} $0, [$1], $2;\", \
                 \"={register},l,{register},~{{memory}}\"(ptr %at, {llvm} %value)",
                operation.ptx
            )
        } else {
            let operation = operation.llvm;
            writeln!(
                body,
                "  {before} = atomicrmw {operation} ptr %at, {llvm} %value {scope_name}monotonic, align {bytes}"
            )
        };
        if order.after {
            let _ = writeln!(body, "  fence {scope_name}acquire");
        }
        let _ = writeln!(body, "  ret {llvm} {before}");
        Some(body)
    })
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
                r#"%before2.seq_cst = call i64 asm sideeffect "atom.relaxed.sys.max.s64 $0, [$1], $2;", "=l,l,l,~{memory}"(ptr %at, i64 %value)"#,
                "fence acquire"
            ]
        );
    }

    #[test]
    fn other_names_are_of_other_pieces() {
        let names = [
            "__gpukernel_barrier",
            "__gpukernel_atomic_add_u8",
            "__gpukernel_atomic_inc_u64",
            "__gpukernel_atomic_add",
        ];
        assert_eq!(names.map(define), [None, None, None, None]);
    }
}
