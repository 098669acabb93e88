//! Intervals, passed to kernels and made by them, and functions of arrays of them.

use anyhow::Context;
use custom_kernels::{Interval, contains, examine, hull, width};
use gpukernel::{Device, Image, Module, for_each};
use gpukernel_array::{Array, Array1, Array2, ArrayFunction};
use ndarray::Axis;

static KERNELS: Image = gpukernel::image!("kernels");

/// What [`examine`] computes.
const RESULTS: [&str; 8] = [
    "low + high of an interval from 1 to 3",
    "its width",
    "whether 2.5 is in it",
    "whether 3.5 is in it",
    "low of its sum with the one that is passed",
    "high of the sum",
    "whether both are equal",
    "low of the one that is passed, less that of a constant",
];

fn examined(module: &Module, given: Interval) -> gpukernel::Result<Vec<f64>> {
    let mut out = module.device().zeroed(RESULTS.len())?;
    module.launch(examine, for_each(out.len()), (given, &mut out))?;
    out.to_vec()
}

/// The widths of intervals, which of them contain which numbers, and the smallest one around all.
struct Report {
    widths: Array1<f64>,
    /// One row for each interval.
    contain: Array2<bool>,
    around_all: Interval,
}

fn report(module: &Module, intervals: &[Interval], numbers: &[f64]) -> anyhow::Result<Report> {
    let (intervals, numbers) =
        (Array::from_vec(module.device(), intervals)?, Array::from_vec(module.device(), numbers)?);
    let around_all = hull::reduce(module, &intervals, Axis(0))?.to_vec()?;
    Ok(Report {
        widths: width::apply(module, (&intervals,))?,
        contain: contains::outer(module, &intervals, &numbers)?,
        around_all: around_all.first().copied().context("there are intervals")?,
    })
}

pub(crate) fn print(device: &Device) -> anyhow::Result<()> {
    let module = device.load(&KERNELS)?;
    for (what, result) in RESULTS.into_iter().zip(examined(&module, Interval::new(7.5, 9.0))?) {
        println!("{result:>5} {what}");
    }
    let intervals =
        [(1.0, 3.0), (7.5, 9.0), (2.0, 2.0), (-4.0, 8.0)].map(|(low, high)| Interval::new(low, high));
    let Report { widths, contain, around_all } = report(&module, &intervals, &[0.0, 2.5, 8.0])?;
    println!("widths: {widths}\nwhich contain 0, 2.5 and 8:\n{contain}\naround all: {around_all:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    #[test]
    fn kernels_create_compare_and_add_intervals() {
        on_every_device(|device| {
            let module = device.load(&KERNELS)?;
            let results = examined(&module, Interval::new(7.5, 9.0))?;
            assert_eq!(results, [4.0, 2.0, 1.0, 0.0, 8.5, 12.0, 0.0, 6.5]);
            assert_eq!(examined(&module, Interval::new(1.0, 3.0))?[4..], [2.0, 6.0, 1.0, 0.0]);
            Ok(())
        });
    }

    /// Many, whose reduction takes several launches.
    #[test]
    fn arrays_of_intervals_are_what_loops_make_of_them() {
        on_every_device(|device| {
            let module = device.load(&KERNELS)?;
            for count in [1, 7, 10_000] {
                let intervals: Vec<Interval> = (0..count)
                    .map(|i| {
                        let low = f64::from(i * 7919 % 1009);
                        Interval::new(low, low + f64::from(i % 5))
                    })
                    .collect();
                let numbers = [0.0, 1.5, 500.0];
                let Report { widths, contain, around_all } = report(&module, &intervals, &numbers)?;
                assert!(widths.to_vec()?.into_iter().eq((0..count).map(|i| f64::from(i % 5))));
                let expected = ndarray::Array2::from_shape_fn((count as usize, 3), |(i, j)| {
                    let x = numbers[j];
                    intervals[i].low <= x && x < intervals[i].high
                });
                assert_eq!(contain.to_ndarray()?, expected);
                let low = intervals.iter().map(|interval| interval.low).fold(f64::INFINITY, f64::min);
                let high = intervals.iter().map(|interval| interval.high).fold(f64::NEG_INFINITY, f64::max);
                assert_eq!(around_all, Interval { low, high });
            }
            Ok(())
        });
    }
}
