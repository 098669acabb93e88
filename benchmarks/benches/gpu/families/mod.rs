//! Well-known kernels as a first draft, and tuned, beside plain CUDA C++ with the same algorithms and blocks: see `kernels/src/draft`, `tuned` and
//! `cuda/draft`.

use bytemuck::Zeroable;
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, Device, Error, ForeignModule, Module};
use gpukernel_benchmarks::{Comparison, compare, noise};

use super::time;

/// A launch of a draft and the same of its tuned version.
macro_rules! both {
    ($modules:ident, $kernel:ident, |$out:pat_param| $config:expr, $args:expr) => {
        Ours {
            draft: &|$out| $modules.drafts.launch(draft::$kernel, $config, $args),
            tuned: Some(&|$out| $modules.tuned.launch(tuned::$kernel, $config, $args)),
        }
    };
}

/// A launch of a draft that has nothing to win.
macro_rules! draft_only {
    ($modules:ident, $kernel:ident, |$out:pat_param| $config:expr, $args:expr) => {
        Ours { draft: &|$out| $modules.drafts.launch(draft::$kernel, $config, $args), tuned: None }
    };
}

mod boxes;
mod dense;
mod docking;
mod grids;
mod lattices;
mod lookups;
mod particles;
mod rows;
mod scalar;
mod sorting;
mod streams;

/// Our kernels, loaded.
#[derive(Clone, Copy)]
struct Modules<'a> {
    drafts: &'a Module,
    tuned: &'a Module,
}

/// What a row may take at most, as a ratio: a draft of nvcc's time, a tuned version of nvcc's time, a draft of the tuned version's time.
const BARS: [(&str, f64); 3] =
    [("draft / nvcc -O3", 1.10), ("tuned / nvcc -O3", 1.03), ("draft / tuned", 1.05)];

/// Why rows take more.
const REASONS: [(&str, &str); 3] = [
    (
        "n-body",
        "the author says that fewer blocks at once are enough (`min_blocks_per_sm`), which made other kernels slower; nvcc's code has the same",
    ),
    ("7-point stencil 512³, f32", "the contract does not say that both volumes have the same extents"),
    ("5 × 5 convolution", "the filter comes as memory, as in CUDA C++, and not by value"),
];

/// A launch that writes to outputs.
type Launch<'a, O> = &'a dyn Fn(&mut O) -> Result<(), Error>;

/// The two of ours.
struct Ours<'a, O> {
    draft: Launch<'a, O>,
    tuned: Option<Launch<'a, O>>,
}

/// The rows so far.
struct Families<'a> {
    device: &'a Device,
    modules: Modules<'a>,
    drafts: Vec<f64>,
    tuned: Vec<f64>,
    mistakes: Vec<String>,
    /// Rows above a bar.
    misses: Vec<String>,
}

/// Prints a row for each kernel, and the geometric means.
pub(crate) fn compare_all(device: &Device, drafts: &Module, tuned: &Module) -> Result<(), Error> {
    let modules = Modules { drafts, tuned };
    let mut families = Families {
        device,
        modules,
        drafts: Vec::new(),
        tuned: Vec::new(),
        mistakes: Vec::new(),
        misses: Vec::new(),
    };
    println!("| kernel | draft | tuned | nvcc -O3 | draft / nvcc -O3 | tuned / nvcc -O3 | draft / tuned |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    families.particles()?;
    families.boxes()?;
    families.docking()?;
    families.grids()?;
    families.lattices()?;
    families.lookups()?;
    families.rows()?;
    families.dense()?;
    families.scalar()?;
    families.sorting()?;
    families.streams()?;
    let mean =
        |ratios: &[f64]| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    println!(
        "\ngeometric mean of {} rows: {:.3} for drafts, {:.3} tuned (drafts that have nothing to win included)",
        families.drafts.len(),
        mean(&families.drafts),
        mean(&families.tuned)
    );
    println!("\n| above its bar | | bar | reason |\n| --- | --- | --- | --- |");
    families.misses.iter().for_each(|miss| println!("{miss}"));
    assert!(families.mistakes.is_empty(), "{}", families.mistakes.join("\n"));
    Ok(())
}

impl Families<'_> {
    /// Measures each of ours beside theirs, compares what they computed, and prints a row.
    fn row<O>(
        &mut self,
        name: &str,
        tolerance: f64,
        outputs: &mut [O; 4],
        ours: Ours<'_, O>,
        theirs: Launch<'_, O>,
        read: &dyn Fn(&O) -> Result<Vec<f64>, Error>,
    ) -> Result<(), Error> {
        let device = self.device;
        let [draft, beside_draft, tuned, beside_tuned] = outputs;
        let mut beside = |ours: Launch<'_, O>, output: &mut O, expected: &mut O| {
            let comparison = compare(
                Box::new(|| time(device, || ours(output))),
                Box::new(|| time(device, || theirs(expected))),
            )?;
            let largest = difference(&read(output)?, &read(expected)?);
            if largest.is_nan() || largest > tolerance {
                self.mistakes.push(format!("{name}: results differ by {largest}"));
            }
            Ok::<_, Error>(comparison)
        };
        let first = beside(ours.draft, draft, beside_draft)?;
        let second = ours.tuned.map(|ours| beside(ours, tuned, beside_tuned)).transpose()?;
        print_row(name, &first, second.as_ref());
        let tuned = second.map(|second| second.ratio);
        let ratios = [Some(first.ratio), tuned, tuned.map(|tuned| first.ratio / tuned)];
        for ((what, bar), ratio) in BARS.iter().zip(ratios) {
            if let Some(ratio) = ratio.filter(|ratio| ratio > bar) {
                let reason = REASONS.iter().find(|(row, _)| name.starts_with(row));
                let reason = reason.map_or("not known", |(_, reason)| reason);
                self.misses.push(format!("| {name} | {what}: {ratio:.3} | {bar:.2} | {reason} |"));
            }
        }
        self.drafts.push(first.ratio);
        self.tuned.push(tuned.unwrap_or(first.ratio));
        Ok(())
    }

    fn foreign(&self, fatbin: &[u8]) -> Result<ForeignModule, Error> {
        // SAFETY: the build script made it with nvcc.
        unsafe { self.device.load_foreign(fatbin) }
    }

    /// An output for each launch of a row: some kernels add to what is there.
    fn zeroed<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<[Buffer<T>; 4], Error> {
        let zeroed = || self.device.zeroed(len);
        Ok([zeroed()?, zeroed()?, zeroed()?, zeroed()?])
    }
}

fn print_row(name: &str, draft: &Comparison, tuned: Option<&Comparison>) {
    let Comparison { ours, theirs, ratio, error, .. } = draft;
    let (time, beside, gain) = match tuned {
        None => ("".to_owned(), "".to_owned(), "".to_owned()),
        Some(Comparison { ours, ratio: tuned, error, .. }) => {
            (format!("{ours:.2?}"), format!("{tuned:.3} ± {error:.3}"), format!("{:.3}", ratio / tuned))
        }
    };
    println!("| {name} | {ours:.2?} | {time} | {theirs:.2?} | {ratio:.3} ± {error:.3} | {beside} | {gain} |");
}

/// The largest difference, in relation to the value where that is more than 1.
fn difference(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let of = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b).abs() / b.abs().max(1.0) };
    ours.iter()
        .zip(theirs)
        .map(of)
        .fold(0.0, |largest: f64, next| if largest.is_nan() || next <= largest { largest } else { next })
}

fn read(buffer: &Buffer<f32>) -> Result<Vec<f64>, Error> {
    Ok(buffer.to_vec()?.into_iter().map(f64::from).collect())
}
