//! Prototypes in PTX: what a function takes and returns, as the sizes and alignments that callers rely on.
//!
//! Where Rust declares a function of CUDA C, our PTX has an `.extern .func`; the PTX of the C has the `.func`. The driver and
//! nvlink compare them too, but name neither side.

use std::{collections::BTreeMap, fmt};

/// What a function returns and takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prototype {
    returns: Vec<Slot>,
    takes: Vec<Slot>,
}

/// One value: PTX tells its size and alignment, and not whether it is an integer or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    bytes: u32,
    align: u32,
}

/// The functions of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prototypes {
    /// Those that it defines for others.
    pub(crate) defined: BTreeMap<String, Prototype>,
    /// Those that it expects of others.
    pub(crate) expected: BTreeMap<String, Prototype>,
}

impl Prototypes {
    /// Reads PTX. What is not understood is left out: it is not ours to reject.
    pub(crate) fn of_ptx(ptx: &str) -> Self {
        let mut all = Self::default();
        let mut rest = ptx;
        while let Some(at) = rest.find(".func") {
            let linkage = rest[..at].rsplit(['\n', ';', '}']).next().unwrap_or_default();
            rest = &rest[at + ".func".len()..];
            let list = if linkage.contains(".extern") {
                &mut all.expected
            } else if linkage.contains(".visible") && !linkage.contains("//") {
                &mut all.defined
            } else {
                continue;
            };
            if let Some((name, prototype, after)) = function(rest) {
                list.insert(name.to_owned(), prototype);
                rest = after;
            }
        }
        all
    }
}

/// Reads `(.param .b32 func_retval0) name(.param .b64 name_param_0, …)`.
fn function(text: &str) -> Option<(&str, Prototype, &str)> {
    let (returns, text) = match text.trim_start().strip_prefix('(') {
        Some(list) => slots(list)?,
        None => (Vec::new(), text),
    };
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || "_$%".contains(c)))?;
    let (name, rest) = text.split_at(end);
    let (takes, rest) = match rest.trim_start().strip_prefix('(') {
        Some(list) => slots(list)?,
        None => (Vec::new(), rest),
    };
    Some((name, Prototype { returns, takes }, rest))
}

/// Reads up to the closing parenthesis.
fn slots(text: &str) -> Option<(Vec<Slot>, &str)> {
    let (list, rest) = text.split_once(')')?;
    let declared = list.split(',').map(str::trim).filter(|slot| !slot.is_empty());
    Some((declared.map(slot).collect::<Option<_>>()?, rest))
}

/// Reads `.param .align 4 .b8 name[12]` and `.param .b32 name`.
fn slot(text: &str) -> Option<Slot> {
    let mut words = text.split_whitespace();
    let (mut align, mut bytes) = (None, None);
    while let Some(word) = words.next() {
        if word == ".align" {
            align = words.next()?.parse().ok();
        } else if let Some(bits) = word.strip_prefix('.').and_then(|kind| kind.get(1..)?.parse::<u32>().ok())
        {
            bytes = Some(bits / 8);
        }
    }
    let element = bytes?;
    let count = match text.split_once('[') {
        Some((_, length)) => length.split(']').next()?.parse().ok()?,
        None => 1,
    };
    Some(Slot { bytes: element * count, align: align.unwrap_or(element) })
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, align } = self;
        if bytes == align {
            write!(f, "{bytes} bytes")
        } else {
            write!(f, "{bytes} bytes aligned to {align}")
        }
    }
}

impl fmt::Display for Prototype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |slots: &[Slot]| slots.iter().map(Slot::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "({})", list(&self.takes))?;
        if self.returns.is_empty() { Ok(()) } else { write!(f, " -> {}", list(&self.returns)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: &str = "
.visible .func  (.param .align 4 .b8 func_retval0[12]) give(
	.param .b32 give_param_0,
	.param .b64 give_param_1
)
{
	ret;
}
.func helper() { ret; }
.visible .func nothing()
{
	ret;
}
";

    #[test]
    fn sizes_and_alignments() {
        let found = Prototypes::of_ptx(C);
        assert_eq!(found.defined.keys().collect::<Vec<_>>(), ["give", "nothing"]);
        assert_eq!(found.defined["give"].to_string(), "(4 bytes, 8 bytes) -> 12 bytes aligned to 4");
        assert_eq!(found.defined["nothing"].to_string(), "()");
        assert!(found.expected.is_empty());
    }

    #[test]
    fn a_declaration_is_compared_by_what_it_says_not_how() {
        let ours = ".extern .func  (.param .align 4 .b8 func_retval0[12]) give\n(\n\t.param .f32 give_param_0, .param .u64 p1)\n;";
        let (c, rust) = (Prototypes::of_ptx(C), Prototypes::of_ptx(ours));
        assert_eq!(rust.expected["give"], c.defined["give"]);
        let other = Prototypes::of_ptx(".extern .func give(.param .f32 a);");
        assert_ne!(other.expected["give"], c.defined["give"]);
    }
}
