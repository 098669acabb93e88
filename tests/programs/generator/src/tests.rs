//! What the generator promises of all programs together.

use std::collections::BTreeSet;

use crate::{Kind, batch, constructs, program};

/// Every construct that there is.
const CONSTRUCTS: [&str; 161] = [
    "array",
    "array from a function",
    "array get",
    "array get_mut",
    "array index",
    "array store",
    "assert",
    "assert_eq",
    "assignment",
    "atomic",
    "ballot",
    "barriers behind threads that ended",
    "bit count",
    "bit logic",
    "block exclusive scan",
    "block expression",
    "block inclusive scan",
    "block reduction",
    "block reduction of items",
    "block reduction to the first",
    "block scan with total",
    "bound per group of lanes",
    "break or continue",
    "break or continue of an outer loop",
    "broadcast",
    "bytes",
    "cast",
    "cast to float",
    "chain",
    "checked arithmetic",
    "chosen reference",
    "chunks",
    "closure",
    "comparison",
    "compound assignment",
    "constant table",
    "copy of another length",
    "copy_within",
    "destructuring",
    "difference",
    "division",
    "division by a constant",
    "division by zero",
    "double buffering",
    "early return",
    "else if",
    "enum",
    "enumerate",
    "exclusive scan",
    "expect",
    "explicit panic",
    "field assignment",
    "float bits",
    "float class",
    "float min and max",
    "float product",
    "float quotient",
    "float remainder",
    "float sign",
    "float sum",
    "fold over a range",
    "for over an array",
    "get_or_insert",
    "group barrier and rank",
    "group of floats",
    "group reduction",
    "group reduction by a function",
    "helper function",
    "helper function that is always inlined",
    "helper function that is not inlined",
    "if",
    "if else",
    "if expression",
    "if let",
    "inclusive range",
    "inclusive scan",
    "index out of bounds",
    "invoke_one",
    "iter_mut",
    "iterator by hand",
    "labelled break or continue",
    "let",
    "logic",
    "loop",
    "loop of barriers that threads leave to end",
    "loop over a subslice",
    "loop with a value",
    "match",
    "match expression",
    "match on an enum",
    "matrix element",
    "method",
    "min and max",
    "mul_add",
    "not",
    "option",
    "option combinators",
    "option of a condition",
    "option replace",
    "option take",
    "overflow",
    "overflowing arithmetic",
    "partition by a condition",
    "partition by a label",
    "power",
    "power of two",
    "range",
    "range contains",
    "range from a start",
    "reference",
    "remainder by zero",
    "repeated array",
    "reversal",
    "reverse",
    "reversed range",
    "rotate",
    "rounding",
    "saturating arithmetic",
    "scan",
    "shared array in phases",
    "shared atomics",
    "shift",
    "shift by a constant",
    "shift too far",
    "shuffle",
    "shuffle by a distance",
    "sign",
    "slice chunks",
    "slice fold",
    "slice get",
    "slice index",
    "split_at_mut",
    "square root",
    "step_by",
    "stepped range",
    "struct",
    "struct field",
    "struct update",
    "subslice",
    "subslice in disorder",
    "subslice out of bounds",
    "swap",
    "swapped through references",
    "sync_all and sync_any",
    "sync_count",
    "take_while",
    "todo and option",
    "try_shuffle",
    "tuple",
    "tuple field",
    "two arrays at one barrier",
    "uniform if",
    "uniform loop",
    "unreachable",
    "unwrap",
    "vote",
    "while",
    "wide product",
    "windows",
    "wrapping arithmetic",
    "zip",
];

/// No statement, operation or use of the device is dead.
#[test]
fn a_thousand_programs_reach_every_construct() {
    let reached: BTreeSet<_> = (0..1000).flat_map(constructs).collect();
    let all = BTreeSet::from(CONSTRUCTS);
    let (missing, unknown): (Vec<_>, Vec<_>) =
        (all.difference(&reached).collect(), reached.difference(&all).collect());
    assert!(missing.is_empty() && unknown.is_empty(), "missing: {missing:?}, unknown: {unknown:?}");
}

#[test]
fn a_seed_is_a_program_for_ever() {
    assert_eq!(batch(30..60), batch(30..60));
    // A batch changes nothing about a program.
    assert!(batch(30..60).contains(&program(59)));
    let different: BTreeSet<_> = (0..1000).map(program).collect();
    assert_eq!(different.len(), 1000);
}

#[test]
fn programs_of_each_kind_use_it() {
    let of_kind = [
        (Kind::Slices, "words"),
        (Kind::Matrix, "from["),
        (Kind::Atomics, ".fetch_"),
        (Kind::Block, "sync"),
        (Kind::Collective, "scratch"),
        (Kind::Lanes, "uniform"),
    ];
    for (kind, _) in of_kind {
        assert!((0..12).any(|seed| Kind::of(seed) == kind), "{kind:?}");
    }
    for (kind, text) in &of_kind[..5] {
        let uses = (0..600).filter(|seed| Kind::of(*seed) == *kind);
        let (with, all) = uses.fold((0, 0), |(with, all), seed| {
            // Parameters name it too.
            let body = program(seed);
            let body = body.lines().filter(|line| !line.contains("fn ")).collect::<String>();
            (with + usize::from(body.contains(text)), all + 1)
        });
        assert!(with * 10 > all * 6, "{with} of {all} programs of {kind:?}");
    }
}

/// Where a·b+c may be rounded once, there are no products of floating-point numbers.
#[test]
fn contracted_programs_have_no_float_products() {
    for seed in (3500..4000).step_by(7) {
        assert!(crate::contracts(seed));
        assert!(!constructs(seed).contains("float product"), "seed {seed}");
        assert!(!program(seed).contains("*="), "seed {seed}");
    }
}
