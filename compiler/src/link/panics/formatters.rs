//! Messages of panics without formatting on the device.
//!
//! `format_args!("{x:>8}")` is a template and, for each argument, the address of a value and that of the function that
//! formats it, `<u32 as core::fmt::Display>::fmt`. The functions would be dead weight and their stacks unbounded, so each is
//! replaced by a number: how the value is laid out, and the function's name in the manifest. gpu-std's code copies the values
//! by that, and the host formats them. Where kernels format text themselves, the functions stay, and messages come without
//! values.

use std::collections::HashSet;

use gpukernel_abi::message as layout;

use crate::{
    link::call_graph,
    llvm::{Module, Value},
};

/// The functions that were replaced, by their names.
#[derive(Default)]
pub(in crate::link) struct Formatters {
    names: Vec<String>,
    /// Whether kernels format text themselves; not known before the first call.
    needed: Option<bool>,
}

impl Formatters {
    /// The names, for the manifest.
    pub(in crate::link) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// Replaces every use of such functions.
    pub(super) fn replace<'c>(&mut self, module: &Module<'c>, entries: &[Value<'c>]) {
        let formatters: Vec<_> = module
            .functions()
            .into_iter()
            .filter_map(|function| {
                let name = super::demangled(&function.name());
                is_formatter(&name).then_some((function, name))
            })
            .collect();
        let functions: HashSet<_> = formatters.iter().map(|(function, _)| *function).collect();
        if *self.needed.get_or_insert_with(|| kernels_format(entries, &functions)) {
            return;
        }
        for (function, name) in formatters.into_iter().filter(|(function, _)| function.is_used()) {
            if let Some(number) = self.number(&name).and_then(|number| module.number_as_pointer(number)) {
                function.replace_by(number);
            }
        }
    }

    /// The number that stands for a function ([`gpukernel_abi::message`]).
    fn number(&mut self, name: &str) -> Option<u32> {
        let index = match self.names.iter().position(|known| known == name) {
            Some(index) => index,
            None => {
                self.names.push(name.to_owned());
                self.names.len() - 1
            }
        };
        let (layout, references) = layout_of(name);
        Some(u32::from(u16::try_from(index).ok()?) << 16 | references << 8 | layout)
    }
}

/// Whether it is `<T as core::fmt::Trait>::fmt`.
fn is_formatter(name: &str) -> bool {
    name.starts_with('<') && name.ends_with(">::fmt") && name.contains(" as core::fmt::")
}

/// Layout of the value, and how many references lie around it.
fn layout_of(name: &str) -> (u32, u32) {
    let mut of = name[1..].split(" as core::fmt::").next().unwrap_or_default();
    let mut references = 0;
    while let Some(inner) = of.strip_prefix("&mut ").or_else(|| of.strip_prefix('&')) {
        references += 1;
        of = inner;
    }
    let layout = match of {
        "bool" | "u8" | "i8" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" | "f32" | "char" => 4,
        "u64" | "i64" | "f64" | "usize" | "isize" => 8,
        "u128" | "i128" => layout::MAX_BYTES,
        // The reference is part of what is laid out.
        "str" if references > 0 => return (layout::STR, references - 1),
        _ if references > 0 && of.starts_with("dyn core::fmt::") => return (layout::DYN, references - 1),
        _ if of.starts_with("core::fmt::Arguments") => layout::ARGUMENTS,
        _ => layout::OPAQUE,
    };
    (layout, references)
}

/// Whether a kernel or an exported function reaches `core::fmt::write` otherwise than through a formatter. What they call by pointers is
/// mentioned by one of them.
fn kernels_format<'c>(entries: &[Value<'c>], formatters: &HashSet<Value<'c>>) -> bool {
    let mut to_do = entries.to_vec();
    let mut seen: HashSet<_> = to_do.iter().copied().collect();
    while let Some(function) = to_do.pop() {
        let name = super::demangled(&function.name());
        if name == "core::fmt::write" || name == "<core::fmt::Formatter>::write_fmt" {
            return true;
        }
        let mentioned = call_graph::mentioned_functions(function);
        to_do
            .extend(mentioned.into_iter().filter(|other| !formatters.contains(other) && seen.insert(*other)));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_follow_the_type_in_the_name() {
        let of = |ty: &str| layout_of(&format!("<{ty} as core::fmt::Debug>::fmt"));
        assert_eq!(of("u8"), (1, 0));
        assert_eq!(of("i128"), (16, 0));
        assert_eq!(of("usize"), (8, 0));
        assert_eq!(of("&&f32"), (4, 2));
        assert_eq!(of("&str"), (layout::STR, 0));
        assert_eq!(of("&&str"), (layout::STR, 1));
        assert_eq!(of("&dyn core::fmt::Debug"), (layout::DYN, 0));
        assert_eq!(of("core::fmt::Arguments"), (layout::ARGUMENTS, 0));
        assert_eq!(of("[u32; 4]"), (layout::OPAQUE, 0));
        assert_eq!(of("kernels::Error"), (layout::OPAQUE, 0));
    }

    #[test]
    fn one_name_has_one_number() {
        let mut formatters = Formatters::default();
        let first = formatters.number("<u32 as core::fmt::Display>::fmt").unwrap();
        let second = formatters.number("<&u32 as core::fmt::Debug>::fmt").unwrap();
        assert_eq!((first, second), (4, 1 << 16 | 1 << 8 | 4));
        assert_eq!(formatters.number("<u32 as core::fmt::Display>::fmt"), Some(first));
        assert_eq!(formatters.into_names().len(), 2);
    }

    #[test]
    fn formatters_are_known_by_their_names() {
        assert!(is_formatter("<u32 as core::fmt::Display>::fmt"));
        assert!(is_formatter("<kernels::Error as core::fmt::Debug>::fmt"));
        assert!(!is_formatter("<kernels::Error as core::fmt::Write>::write_str"));
        assert!(!is_formatter("kernels::fmt"));
    }
}
