//! Colours for numbers: from dark blue by green to yellow, brighter where they are larger.

/// The colour of a number between 0 and 1.
pub(crate) fn colour(number: f64) -> [u8; 3] {
    /// At equal distances, of the map "viridis" of matplotlib.
    const COLOURS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let place = number.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let below = (place as usize).min(COLOURS.len() - 2);
    let part = place - below as f64;
    let mixed = |channel: usize| COLOURS[below][channel] * (1.0 - part) + COLOURS[below + 1][channel] * part;
    [0, 1, 2].map(|channel| mixed(channel).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_between_the_first_and_the_last() {
        assert_eq!(
            [0.0, -1.0, 1.0, 2.0].map(colour),
            [[68, 1, 84], [68, 1, 84], [253, 231, 37], [253, 231, 37]]
        );
        assert_eq!((colour(0.5), colour(0.125)), ([33, 145, 140], [64, 42, 112]));
    }
}
