//! The picture, and what a direct convolution makes of it.

use crate::{convolution::Filter, libraries::Extents};

/// Rings around the middle that get finer outwards, from 0 to 1: what a filter leaves of them tells which frequencies it lets through.
pub(crate) fn zone_plate(Extents { rows, columns }: Extents) -> Vec<f32> {
    let radius = rows.min(columns) as f32 / 2.0;
    let pixel = |row: usize, column: usize| {
        let (y, x) = (row as f32 - rows as f32 / 2.0, column as f32 - columns as f32 / 2.0);
        // At the edge, a ring is four pixels wide.
        0.5 + 0.5 * (std::f32::consts::PI / 4.0 * (x * x + y * y) / radius).cos()
    };
    (0..rows).flat_map(|row| (0..columns).map(move |column| pixel(row, column))).collect()
}

/// A pixel of the convolution by its definition, computed in f64: the weighted mean of the pixels around it.
fn direct(picture: &[f32], extents: Extents, filter: Filter, (row, column): (usize, usize)) -> f64 {
    let Extents { rows, columns } = extents;
    let weights: Vec<f64> = filter.weights().into_iter().map(f64::from).collect();
    let (mut sum, mut weight_sum) = (0.0, 0.0);
    for (i, vertical) in weights.iter().enumerate() {
        for (j, horizontal) in weights.iter().enumerate() {
            let y = (row + rows + i - filter.radius) % rows;
            let x = (column + columns + j - filter.radius) % columns;
            sum += vertical * horizontal * f64::from(picture[y * columns + x]);
            weight_sum += vertical * horizontal;
        }
    }
    sum / weight_sum
}

/// The largest difference between `smooth` and the direct convolution of `noisy`, over every `step`th pixel.
pub(crate) fn largest_error(
    noisy: &[f32],
    smooth: &[f32],
    extents: Extents,
    filter: Filter,
    step: usize,
) -> f64 {
    let places = (0..extents.pixels()).step_by(step);
    let errors = places.map(|i| {
        let place = (i / extents.columns, i % extents.columns);
        (f64::from(smooth[i]) - direct(noisy, extents, filter, place)).abs()
    });
    errors.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_becomes_the_filter() {
        let (extents, filter) = (Extents { rows: 6, columns: 8 }, Filter { radius: 1, deviation: 1.0 });
        let mut point = vec![0.0; 48];
        point[0] = 1.0;
        let at = |row, column| direct(&point, extents, filter, (row, column));
        let middle = at(0, 0);
        assert!((at(0, 1) / middle - (-0.5_f64).exp()).abs() < 1e-6);
        assert!((at(5, 7) / middle - (-1.0_f64).exp()).abs() < 1e-6);
        assert_eq!((at(0, 2), at(3, 3)), (0.0, 0.0));
    }

    #[test]
    fn rings_are_between_black_and_white() {
        let rings = zone_plate(Extents { rows: 64, columns: 96 });
        assert!(rings.len() == 64 * 96 && rings.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
        assert_eq!(rings[32 * 96 + 48], 1.0);
    }
}
