//! The passes of the linker, in the order in which they run.
//!
//! The lists are the documentation: `cargo gpukernel build --list-passes` prints them, and `--emit-after` writes the code after any of them.
//! How a pass works, and the fact that it relies on, is said in its file.

use super::{
    LinkError, address_spaces, allocator, arch, assumed_words, barrier_loops, checks_once, collect,
    constant_loads, constants, contraction, copies, early_starts,
    emit::Emission,
    entries, exports, foreign, global_addresses, instructions, internalise,
    linking::Linking,
    local_atomics, loop_ends, loops, lowering, negation, neighbours, one_round, optimise, panics,
    parameter_copies,
    pass::{Pass, Stage},
    pointer_calls, prelude, ranges, related_addresses, rolled_loops, shared, short_comparisons, sinking,
    small_arrays, steps, undefined, whole_rows, wide_products,
};

/// A pass of the linker. [`linker_passes`] lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkerPass {
    /// The name, as in [`Options::emit_after`](crate::Options::emit_after).
    pub name: &'static str,
    /// What the pass does, in one line.
    pub does: &'static str,
    /// The step of the build that the pass is part of, as in [`Timings`](crate::Timings).
    pub step: &'static str,
}

/// Lists the passes between the bitcode of a kernel crate and PTX, in the order in which they run.
///
/// ```
/// let passes = gpukernel_build::linker_passes();
/// assert_eq!(passes[0].name, "read-crates");
/// assert!(passes.iter().any(|pass| pass.name == "unroll-barrier-loops"));
/// ```
pub fn linker_passes() -> Vec<LinkerPass> {
    fn listed<F>(stages: &'static [Stage<'_, F>]) -> impl Iterator<Item = LinkerPass> {
        stages.iter().flat_map(|stage| {
            stage.passes.iter().map(|pass| LinkerPass { name: pass.name, does: pass.does, step: stage.step })
        })
    }
    listed(LINK).chain(listed(EMIT)).collect()
}

/// The name of a pass in [`Options::emit_after`](crate::Options::emit_after) that stands for all of them.
const ALL: &str = "all";

/// The names of the passes that are asked for.
pub(crate) fn named(wanted: &[String]) -> Result<Vec<&'static str>, UnknownPass> {
    let names: Vec<_> = linker_passes().into_iter().map(|pass| pass.name).collect();
    if let Some(unknown) = wanted.iter().find(|&name| name != ALL && !names.contains(&name.as_str())) {
        return Err(UnknownPass { name: unknown.clone(), known: names });
    }
    let is_wanted = |name: &&str| wanted.iter().any(|wanted| wanted == name || wanted == ALL);
    Ok(names.into_iter().filter(is_wanted).collect())
}

/// There is no pass of a name in [`Options::emit_after`](crate::Options::emit_after).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the linker has no pass `{name}`: {}", instead(name, known))]
pub struct UnknownPass {
    /// The name.
    name: String,
    /// The passes that there are.
    known: Vec<&'static str>,
}

/// The pass that was meant, or all of them.
fn instead(name: &str, known: &[&str]) -> String {
    let alike = |other: &str| strsim::jaro_winkler(name, other);
    let nearest = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    match nearest.filter(|nearest| alike(nearest) >= ALIKE) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("choose `{ALL}` or some of {}", known.join(", ")),
    }
}

/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.75;

/// The number of the first pass of [`EMIT`] in the names of dumps.
pub(super) fn first_of_emit() -> usize {
    1 + LINK.iter().map(|stage| stage.passes.len()).sum::<usize>()
}

type OfLink = for<'c> fn(&mut Linking<'c>) -> Result<(), LinkError>;
type OfEmit = for<'c> fn(&mut Emission<'c>) -> Result<(), LinkError>;

/// For all architectures together: from the libraries of the kernel crate to the optimised module.
pub(super) const LINK: &[Stage<'_, OfLink>] = &[
    Stage {
        step: "read bitcode",
        passes: &[Pass {
            name: "read-crates",
            does: "link the bitcode of the kernel crate and its dependencies into one module",
            run: |link| {
                link.module = collect::collect(link.context, &link.input.crates)?;
                Ok(())
            },
        }],
    },
    Stage {
        step: "link libraries",
        passes: &[
            Pass {
                name: "name-constants",
                does: "find the statics in constant memory and give them the names that the runtime looks for",
                run: |link| {
                    link.constants = constants::find_and_name(&link.module)?;
                    Ok(())
                },
            },
            Pass {
                name: "mark-kernels",
                does: "make functions marked `#[kernel]` entries with their launch contracts; find exported functions",
                run: |link| {
                    link.kernels = entries::find_and_mark(&link.module)?;
                    link.exports = exports::find(&link.module);
                    link.note_kernels();
                    Ok(())
                },
            },
            Pass {
                name: "replace-panics",
                does: "replace panics by traps, or by calls that record them",
                run: |link| link.replace_panics(),
            },
            Pass {
                name: "call-libraries",
                does: "replace operations without an instruction (float remainders, conversions of 128 bits) by calls",
                run: |link| {
                    lowering::call_libraries(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "link-core",
                does: "link what is needed of core, alloc and compiler_builtins",
                run: |link| {
                    collect::add_needed(link.context, &link.module, &link.input.sysroot)?;
                    allocator::complete(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "replace-panics-of-core",
                does: "do as `replace-panics` in what `link-core` linked",
                run: |link| link.replace_panics(),
            },
            Pass {
                name: "call-libraries-of-core",
                does: "do as `call-libraries` in what `link-core` linked",
                run: |link| {
                    lowering::call_libraries(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "link-foreign",
                does: "link the bitcode of CUDA C and C++",
                run: |link| {
                    foreign::link(link.context, &link.module, &link.input.bitcode, &mut link.names)?;
                    let names = &link.names;
                    foreign::mark_convergent(&link.module, |name| {
                        names.is_partial || names.defined.contains_key(name)
                    });
                    Ok(())
                },
            },
            Pass {
                name: "allow-contraction",
                does: "allow a·b+c to become one instruction, unless the crate forbids it",
                run: |link| {
                    if link.input.contraction {
                        contraction::allow(&link.module);
                    }
                    Ok(())
                },
            },
            Pass {
                name: "find-cooperative",
                does: "find the kernels that reach a barrier of the grid",
                run: |link| {
                    entries::find_cooperative(&link.module, &mut link.kernels, &link.exports);
                    Ok(())
                },
            },
            Pass {
                name: "link-prelude",
                does: "link device operations that Rust cannot express, and libdevice",
                run: |link| {
                    prelude::link(link.context, &link.module, link.input.libdevice.as_deref())?;
                    arch::release_available(&link.module, link.input.lowest);
                    whole_rows::inline_callers(
                        &link.module,
                        &link.kernels.iter().map(|kernel| kernel.function).collect(),
                    );
                    collect::forget_processors(&link.module);
                    global_addresses::mark_pure(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "internalise",
                does: "make all functions internal but kernels and exported ones",
                run: |link| {
                    link.variables = internalise::internalise(&link.module, &link.kernels, &link.exports);
                    link.note_kernels();
                    Ok(())
                },
            },
            Pass {
                name: "inline-prelude",
                does: "remove what is not used, and inline device operations",
                run: |link| Ok(link.module.run_passes("globaldce,always-inline", &link.machine)?),
            },
            Pass {
                name: "set-ranges",
                does: "turn launch contracts into ranges of thread and block indices",
                run: |link| {
                    ranges::set_ranges(&link.module, &link.kernels, &link.exports);
                    Ok(())
                },
            },
            Pass {
                name: "mark-pointer-calls",
                does: "make calls of pointers convergent where they may reach a barrier",
                run: |link| {
                    let entries = link.kernels.iter().map(|kernel| kernel.function);
                    pointer_calls::mark_convergent(&link.module, entries, &link.exports);
                    Ok(())
                },
            },
            Pass {
                name: "verify",
                does: "check that the linked module is well formed",
                run: |link| Ok(link.module.verify("verify")?),
            },
        ],
    },
    Stage {
        step: "optimise",
        passes: &[
            Pass {
                name: "simplify",
                does: "compute both sides of `&&` where that is cheap, and make rounds of iterators countable",
                run: |link| Ok(optimise::simplify(&link.module, &link.machine)?),
            },
            Pass {
                name: "inline-helpers",
                does: "inline small functions, and simplify what they return before a loop or a branch is built on it",
                run: |link| {
                    whole_rows::inline_marked(&link.module);
                    Ok(optimise::inline_helpers(&link.module, &link.machine)?)
                },
            },
            Pass {
                name: "sink-into-branches",
                does: "compute on one side of a branch what only that side needs, such as the next index of an iterator",
                run: |link| {
                    sinking::sink_into_branches(&link.module);
                    Ok(optimise::count_rounds(&link.module, &link.machine)?)
                },
            },
            Pass {
                name: "thread-jumps",
                does: "connect the end of an iterator with the loop around it",
                run: |link| Ok(optimise::thread_jumps(&link.module)?),
            },
            Pass {
                name: "align-shared",
                does: "align shared arrays of whole vectors to 16 bytes, so that loads of neighbours become one",
                run: |link| {
                    shared::align_to_vectors(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "bound-steps",
                does: "end loops of `step_by` by their index, or say that it is below the end of the range",
                run: |link| Ok(steps::bound_indices(link.context, &link.module)?),
            },
            Pass {
                name: "close-loops",
                does: "give each loop phis for what is used behind it",
                run: |link| Ok(optimise::close_loops(&link.module, &link.machine)?),
            },
            Pass {
                name: "version-loops",
                does: "make a version of one round of each loop over a thread's positions; ask before the others whether no check can fail",
                run: |link| {
                    let done = one_round::add_versions(&link.module, link.is_kernel());
                    checks_once::guard(&link.module, link.is_kernel(), &done);
                    Ok(())
                },
            },
            Pass {
                name: "unroll-small-arrays",
                does: "ask to unroll loops that choose elements of arrays which fit in registers",
                run: |link| {
                    small_arrays::unroll_loops(&link.module, link.is_kernel());
                    Ok(())
                },
            },
            Pass {
                name: "inline",
                does: "inline and simplify functions, and unroll no loop unasked (the first half of O3)",
                run: |link| {
                    let passes = optimise::FIRST_HALF;
                    Ok(link.module.run_passes_without_unrolling(passes, &link.machine)?)
                },
            },
            Pass {
                name: "drop-checks",
                does: "make a version without checks of each loop that has some left of which `version-loops` asks",
                run: |link| Ok(checks_once::drop_checks(&link.module, &link.machine)?),
            },
            Pass {
                name: "keep-loops",
                does: "mark the loops whose rounds must not be copied, because threads may leave them apart",
                run: |link| {
                    rolled_loops::mark(&link.module, link.is_kernel());
                    Ok(())
                },
            },
            Pass {
                name: "bound-neighbours",
                does: "ask once whether there is an element, instead of each neighbour in `0 < i && i < n - 1`",
                run: |link| {
                    neighbours::bound(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "optimise",
                does: "run LLVM's own passes for speed (O3)",
                run: |link| Ok(link.module.run_passes(optimise::FOR_SPEED, &link.machine)?),
            },
            Pass {
                name: "split-copies",
                does: "turn copies of small local variables into loads and stores, so that they become registers",
                run: |link| match copies::split_copies(&link.module) {
                    true => Ok(optimise::promote_pieces(&link.module, &link.machine)?),
                    false => Ok(()),
                },
            },
            Pass {
                name: "shorten-comparisons",
                does: "compare in 32 bits what fits in them",
                run: |link| {
                    short_comparisons::shorten(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "mark-constant-loads",
                does: "mark loads of memory that nobody writes during a launch",
                run: |link| {
                    constant_loads::mark(&link.module, link.is_kernel());
                    Ok(())
                },
            },
            Pass {
                name: "internalise-rest",
                does: "make variables and operations internal, which had to stay visible for the optimiser",
                run: |link| {
                    internalise::internalise_rest(&link.module, &link.variables);
                    Ok(())
                },
            },
            Pass {
                name: "move-shared",
                does: "move statics of shared memory to its address space",
                run: |link| {
                    shared::move_to_shared_memory(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "move-constants",
                does: "move constants to the address space of constant memory",
                run: |link| {
                    constants::move_to_constant_memory(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "read-parameters",
                does: "read elements of arguments by value in constant memory, instead of a copy in local memory",
                run: |link| Ok(parameter_copies::read_in_place(&link.module, &link.kernels, &link.machine)?),
            },
            Pass {
                name: "assume-global",
                does: "assume that the addresses inside of kernel parameters are those of global memory",
                run: |link| Ok(global_addresses::assume(link.context, &link.module, &link.machine)?),
            },
            Pass {
                name: "place-statics",
                does: "give every other static an address space",
                run: |link| Ok(address_spaces::place_statics(&link.module, &link.machine)?),
            },
            Pass {
                name: "infer-address-spaces",
                does: "infer the address spaces of pointers, and simplify what that leaves",
                run: |link| Ok(address_spaces::optimise(&link.module, &link.machine)?),
            },
            Pass {
                name: "relate-addresses",
                does: "compute addresses from others of the block if the distance is the same in the whole launch",
                run: |link| {
                    related_addresses::relate(&link.module, link.is_kernel());
                    Ok(())
                },
            },
            Pass {
                name: "narrow-assumed",
                does: "compute in 32 bits what is assumed to fit in them",
                run: |link| {
                    assumed_words::narrow(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "find-panics",
                does: "find the panics that are left in each kernel",
                run: |link| {
                    link.find_panics();
                    Ok(())
                },
            },
            Pass {
                name: "record-panics",
                does: "turn the calls for panics into code that records where they are",
                run: |link| {
                    let Linking { context, module, kernels, exports, machine, .. } = link;
                    Ok(panics::record(context, module, kernels, exports, machine)?)
                },
            },
            Pass {
                name: "branch-back",
                does: "turn the last branch of each loop round, so that it goes back if taken",
                run: |link| {
                    loops::branch_back(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "write-negations",
                does: "write negations of 16 bits and absolute values as PTX that ptxas gets right",
                run: |link| {
                    negation::write_out(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "plain-local-atomics",
                does: "make compare-and-exchange on a thread's own variables plain",
                run: |link| {
                    local_atomics::make_plain(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "drop-compiler-fences",
                does: "erase `compiler_fence`, which needs no code",
                run: |link| {
                    lowering::drop_compiler_fences(&link.module);
                    Ok(())
                },
            },
            Pass {
                name: "find-undefined",
                does: "refuse kernels that need functions which no library has",
                run: |link| {
                    let has_libdevice = link.input.libdevice.is_some();
                    undefined::check(&link.module, &link.kernels, has_libdevice, &link.names)?;
                    // What is left is in code that cannot be looked into, or nvlink will miss it.
                    for function in undefined::declared(&link.module, &link.names) {
                        link.names.defined.entry(function).or_default();
                    }
                    Ok(())
                },
            },
        ],
    },
];

/// For each architecture, on a copy of the optimised module: to its PTX.
pub(super) const EMIT: &[Stage<'_, OfEmit>] = &[Stage {
    step: "emit PTX",
    passes: &[
        Pass {
            name: "set-arch",
            does: "replace `gpu_std::arch()` by the architecture, and remove the branches that it decides against",
            run: |emission| arch::set_number(&emission.module, emission.arch, &emission.machine),
        },
        Pass {
            name: "inline-for-arch",
            does: "inline operations that only some architectures have; refuse kernels that need one which this one lacks",
            run: |emission| {
                let Emission { module, arch, kernels, machine, .. } = emission;
                arch::inline_available(module, *arch, kernels, machine)
            },
        },
        Pass {
            name: "unroll-barrier-loops",
            does: "unroll short loops around barriers and warp operations",
            run: |emission| {
                let is_kernel = |name: &str| emission.kernels.iter().any(|kernel| kernel.symbol == name);
                Ok(barrier_loops::unroll(&emission.module, is_kernel, &emission.machine)?)
            },
        },
        Pass {
            name: "order-loop-ends",
            does: "end loops where the counter is not less than its end, instead of where it is equal to it",
            run: |emission| {
                loop_ends::order(&emission.module);
                Ok(())
            },
        },
        Pass {
            name: "extend-factors",
            does: "multiply numbers that are extended from 32 bits by one instruction",
            run: |emission| {
                wide_products::extend_in_place(&emission.module);
                Ok(())
            },
        },
        Pass {
            name: "hide-constant-pointers",
            does: "hide constant pointers from code generation, which would infer wrong address spaces for them",
            run: |emission| {
                address_spaces::hide_undecided(&emission.module);
                Ok(())
            },
        },
        Pass {
            name: "generate-ptx",
            does: "choose instructions and registers: PTX by LLVM",
            run: |emission| emission.generate_ptx(),
        },
        Pass {
            name: "rewrite-instructions",
            does: "replace instructions in the PTX that ptxas gets wrong or makes slow",
            run: |emission| {
                emission.ptx = instructions::rewrite(&emission.ptx);
                Ok(())
            },
        },
        Pass {
            name: "wait-for-grids",
            does: "let kernels with `programmatic_launch` begin by waiting for the grids before them",
            run: |emission| {
                let kernels = emission.kernels.iter();
                let waiting: Vec<_> = kernels.filter(|kernel| early_starts::wants(kernel)).collect();
                if emission.arch >= early_starts::FIRST && !waiting.is_empty() {
                    emission.ptx = early_starts::wait(&emission.ptx, |symbol| {
                        waiting.iter().any(|kernel| kernel.symbol == symbol)
                    });
                }
                Ok(())
            },
        },
    ],
}];

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        fs,
        path::{Path, PathBuf},
    };

    use gpukernel_image::Arch;

    use super::*;
    use crate::{
        foreign::Names,
        link::{self, Dumps, EmittedPtx, LinkInput, Linked, Recording},
        llvm::{Context, Module, testing},
        timings::Timings,
    };

    #[test]
    fn names_are_unique_words_for_command_lines_and_files() {
        let passes = linker_passes();
        let names: BTreeSet<_> = passes.iter().map(|pass| pass.name).collect();
        assert_eq!(names.len(), passes.len());
        assert!(!names.contains(ALL));
        for LinkerPass { name, does, .. } in passes {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
            assert!(!does.is_empty() && !does.ends_with('.') && !does.contains('\n'), "{name}: {does}");
        }
    }

    #[test]
    fn passes_are_found_by_name_and_others_are_an_error_that_says_which_there_are() {
        let named = |names: &[&str]| named(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["optimise", "set-ranges"]).unwrap(), ["set-ranges", "optimise"]);
        assert_eq!(named(&["all"]).unwrap().len(), linker_passes().len());
        assert_eq!(named(&[]).unwrap(), [] as [&str; 0]);
        let error = |name| named(&["optimise", name]).unwrap_err().to_string();
        assert_eq!(error("optimize"), "the linker has no pass `optimize`: did you mean `optimise`?");
        let error = error("qqq");
        assert!(
            error.starts_with(
                "the linker has no pass `qqq`: choose `all` or some of read-crates, name-constants, "
            ),
            "{error}"
        );
        assert!(error.ends_with(", rewrite-instructions, wait-for-grids"), "{error}");
    }

    /// A library whose only member is this bitcode.
    fn library(bitcode: &[u8]) -> Vec<u8> {
        let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "a.o/", 0, 0, 0, 0o644, bitcode.len());
        let padding = if bitcode.len() % 2 == 1 { "\n" } else { "" };
        [b"!<arch>\n", header.as_bytes(), bitcode, padding.as_bytes()].concat()
    }

    const EXPORT: &str = "
        target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        @table = internal constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
        define i32 @export(i64 %i, float %a, ptr %out) section \".gpukernel.export\" {
            %p = getelementptr i32, ptr @table, i64 %i
            %v = load i32, ptr %p
            %b = fmul float %a, 3.0
            %c = fadd float %b, %a
            store float %c, ptr %out
            ret i32 %v
        }";

    /// Links [`EXPORT`] and emits PTX for sm_80 in a folder, with dumps after these passes.
    fn linked(dir: &Path, after: Vec<&'static str>) -> (Linked, String, Vec<PathBuf>) {
        let llvm = testing::llvm();
        let arch = Arch::new(8, 0);
        let context = Context::new(llvm);
        let bitcode = Module::from_text(&context, EXPORT, "an export").unwrap().to_bitcode();
        let path = dir.join("library.rlib");
        fs::write(&path, library(&bitcode)).unwrap();
        let input = LinkInput {
            crates: vec![path],
            sysroot: Vec::new(),
            libdevice: None,
            lowest: arch,
            contraction: true,
            panics: Recording::Trap,
            bitcode: Vec::new(),
            names: Names::default(),
            wants_text: true,
        };
        let dumps = Dumps { dir: dir.to_owned(), name: "k".to_owned(), after };
        let mut timings = Timings::default();
        let linked = link::link(llvm, &input, &dumps, &mut timings).unwrap();
        let EmittedPtx { ptx, dumped } =
            link::emit_ptx(llvm, &linked, &[arch], &Default::default(), &dumps, &mut timings).unwrap();
        let timed = timings.steps().flat_map(|step| &step.passes).count();
        assert_eq!(timed, linker_passes().len());
        let dumped = linked.dumped.iter().cloned().chain(dumped).collect();
        (linked, ptx[0].1.clone(), dumped)
    }

    #[test]
    fn the_code_after_each_pass_is_written_and_well_formed() {
        let all = linker_passes();
        let dir = tempfile::tempdir().unwrap();
        let (_, ptx, dumped) = linked(dir.path(), all.iter().map(|pass| pass.name).collect());
        assert_eq!(dumped.len(), all.len());
        let context = Context::new(testing::llvm());
        for ((number, pass), path) in (1..).zip(&all).zip(&dumped) {
            let text = fs::read_to_string(path).unwrap();
            let label = if pass.step == "emit PTX" { "k.sm_80" } else { "k" };
            let stem = path.file_stem().unwrap().to_str().unwrap();
            assert_eq!(stem, format!("{label}.{number:02}-{}", pass.name));
            match path.extension().unwrap().to_str() {
                Some("ll") => Module::from_text(&context, &text, stem).unwrap().verify(stem).unwrap(),
                _ => assert!(text.contains(".target sm_80"), "{text}"),
            }
        }
        assert_eq!(fs::read_to_string(dumped.last().unwrap()).unwrap(), ptx);
    }

    #[test]
    fn dumps_change_nothing_and_are_those_that_were_asked_for() {
        // In one folder: the text of a module has the path that it was read from.
        let dir = tempfile::tempdir().unwrap();
        let (plain, plain_ptx, none) = linked(dir.path(), Vec::new());
        let (dumped, dumped_ptx, two) = linked(dir.path(), vec!["optimise", "set-arch"]);
        assert_eq!((none.len(), two.len()), (0, 2));
        assert!(plain.bitcode == dumped.bitcode && plain.text == dumped.text);
        assert_eq!(plain_ptx, dumped_ptx);
    }

    #[test]
    fn a_dump_that_cannot_be_written_is_an_error_with_its_path() {
        let dumps = Dumps { dir: "/nowhere".into(), name: "k".into(), after: vec!["set-arch"] };
        let dir = tempfile::tempdir().unwrap();
        let (linked, ..) = linked(dir.path(), Vec::new());
        let archs = [Arch::new(8, 0)];
        let emitted = link::emit_ptx(
            testing::llvm(),
            &linked,
            &archs,
            &Default::default(),
            &dumps,
            &mut Timings::default(),
        );
        let error = emitted.err().unwrap();
        let number = first_of_emit();
        assert!(
            error.to_string().starts_with(&format!("cannot write /nowhere/k.sm_80.{number}-set-arch.ll: ")),
            "{error}"
        );
    }
}
