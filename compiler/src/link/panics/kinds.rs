//! What the panics at a place in the source are about, known by the functions of the libraries that panic there.
//!
//! It is found before these functions are replaced, by the places that they are called with: a place that a `#[track_caller]` function takes as its
//! parameter is that of its callers. So nothing is added to the code that the optimiser sees.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
};

use gpukernel_abi::rustc::location;
use serde::{Deserialize, Serialize};

use super::left::read;
use crate::llvm::{Module, Value};

/// What a panic is about: one of [`PanicPlace::kinds`](crate::PanicPlace::kinds).
///
/// ```
/// assert_eq!(gpukernel_build::PanicKind::BoundsCheck.to_string(), "bounds check");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PanicKind {
    /// An index or range outside of a slice, an array, a view or another container.
    BoundsCheck,
    /// The result of an operation on integers does not fit its type.
    Overflow,
    /// An integer is divided by zero.
    DivisionByZero,
    /// `unwrap` or `expect` of `None` or `Err`.
    Unwrap,
    /// `panic!`, `assert!`, `assert_eq!`, `unreachable!`, `todo!`.
    Explicit,
    /// Memory cannot be allocated.
    Allocation,
}

impl fmt::Display for PanicKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BoundsCheck => "bounds check",
            Self::Overflow => "overflow",
            Self::DivisionByZero => "division by zero",
            Self::Unwrap => "unwrap or expect",
            Self::Explicit => "panic or assert",
            Self::Allocation => "allocation",
        })
    }
}

impl PanicKind {
    /// Of a function of the libraries that never returns, by its demangled name.
    fn of(function: &str) -> Option<Self> {
        let is = |part: &str| function.contains(part);
        if function.starts_with("alloc::") && (is("handle_alloc_error") || is("capacity_overflow")) {
            return Some(Self::Allocation);
        }
        if let Some(name) = function.strip_prefix("gpu_std::") {
            let name = name.rsplit("::").next().unwrap_or(name);
            return ["outside", "refuse"].contains(&name).then_some(Self::BoundsCheck);
        }
        if !function.starts_with("core::") {
            return None;
        }
        if is("panic_bounds_check")
            || is("::index::") && is("_fail")
            || is("copy_from_slice_impl::len_mismatch")
            || is("str::slice_error_fail")
            || is("cell::panic_")
        {
            Some(Self::BoundsCheck)
        } else if is("by_zero") {
            Some(Self::DivisionByZero)
        } else if is("panic_const") && is("overflow") {
            Some(Self::Overflow)
        } else if is("unwrap_failed") || is("expect_failed") {
            Some(Self::Unwrap)
        } else if is("core::panicking::") {
            Some(Self::Explicit)
        } else {
            None
        }
    }
}

/// The kinds of panics by their places: file, line and column. Several operations may have one.
#[derive(Default)]
pub(in crate::link) struct Kinds {
    of: HashMap<(String, u32, u32), BTreeSet<PanicKind>>,
}

impl Kinds {
    /// Those of a place.
    pub(super) fn at(&self, place: &(String, u32, u32)) -> BTreeSet<PanicKind> {
        self.of.get(place).cloned().unwrap_or_default()
    }

    /// Finds those of the functions that panic which the module calls now.
    pub(super) fn find(&mut self, module: &Module<'_>) {
        let functions = module.functions();
        let named = functions.iter().filter(|function| function.is_used()).filter_map(|function| {
            let name = super::demangled(&function.name());
            Some((*function, PanicKind::of(&name)?))
        });
        // Each function that panics, with the number of the parameter that is the place.
        let mut passing: HashMap<(Value<'_>, u32), BTreeSet<PanicKind>> = HashMap::new();
        let mut panicking = HashMap::new();
        for (function, kind) in named {
            panicking.insert(function, kind);
            if function.last_parameter_bytes() == Some(location::BYTES as u64) {
                passing.entry((function, function.parameter_count() - 1)).or_default().insert(kind);
            }
        }
        let mut calls: HashMap<Value<'_>, Vec<(Value<'_>, Value<'_>)>> = HashMap::new();
        for function in functions {
            // What `core` does in a function that is known does not count: it has its kind.
            if panicking.contains_key(&function) {
                continue;
            }
            for call in function.instructions() {
                if let Some(called) = call.called() {
                    calls.entry(called).or_default().push((function, call));
                }
            }
        }
        let mut left: Vec<_> = passing.keys().copied().collect();
        while let Some(target) = left.pop() {
            let kinds = passing[&target].clone();
            for &(caller, call) in calls.get(&target.0).into_iter().flatten() {
                let Some(place) = call.operands().nth(target.1 as usize) else { continue };
                if let Some(place) = read(place) {
                    self.of.entry(place).or_default().extend(&kinds);
                } else if let Some(index) = caller.parameter_index(place) {
                    let known = passing.entry((caller, index)).or_default();
                    let before = known.len();
                    known.extend(&kinds);
                    if known.len() > before {
                        left.push((caller, index));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_libraries_are_known_by_name() {
        use PanicKind::*;
        for (name, kind) in [
            ("core::panicking::panic_bounds_check", Some(BoundsCheck)),
            ("core::slice::index::slice_index_fail", Some(BoundsCheck)),
            ("core::slice::index::slice_end_index_len_fail::do_panic::runtime", Some(BoundsCheck)),
            ("core::panicking::panic_const::panic_const_add_overflow", Some(Overflow)),
            ("core::panicking::panic_const::panic_const_div_overflow", Some(Overflow)),
            ("core::panicking::panic_const::panic_const_rem_by_zero", Some(DivisionByZero)),
            ("core::option::unwrap_failed", Some(Unwrap)),
            ("core::result::unwrap_failed", Some(Unwrap)),
            ("core::option::expect_failed", Some(Unwrap)),
            ("core::panicking::panic_fmt", Some(Explicit)),
            ("core::panicking::panic", Some(Explicit)),
            ("core::panicking::assert_failed_inner", Some(Explicit)),
            ("gpu_std::view::view_2d::outside", Some(BoundsCheck)),
            ("alloc::alloc::handle_alloc_error", Some(Allocation)),
            ("kernels::outside", None),
            ("core::intrinsics::abort", None),
        ] {
            assert_eq!(PanicKind::of(name), kind, "{name}");
        }
    }
}
