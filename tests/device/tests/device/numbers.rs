//! Functions of numbers that std does not have, one test per function and type.

#[path = "numbers/bits.rs"]
mod bits;
#[path = "numbers/elementary.rs"]
mod elementary;
#[path = "numbers/fast.rs"]
mod fast;
#[path = "numbers/rounding.rs"]
mod rounding;
#[path = "numbers/rounding_table.rs"]
mod rounding_table;
#[path = "numbers/special.rs"]
mod special;
#[path = "numbers/special_table.rs"]
mod special_table;

/// The number of a function in the list of its kernel.
fn number_of(names: &[&str], name: &str) -> u32 {
    match names.iter().position(|&known| known == name) {
        Some(number) => number as u32,
        None => panic!("no kernel computes {name}"),
    }
}

/// How far a float is from the exact value in units in the last place; NaN and infinities must be themselves.
macro_rules! error_in_ulp {
    ($t:ident, $found:expr, $exact:expr) => {{
        let (found, exact): ($t, f64) = ($found, $exact);
        let expected = exact as $t;
        if expected.is_nan() || found.is_nan() || expected.is_infinite() || found.is_infinite() {
            let same = expected.is_nan() && found.is_nan() || expected == found;
            if same { 0.0 } else { f64::INFINITY }
        } else {
            let unit = expected.abs().next_up() - expected.abs();
            ((f64::from(found) - exact) / f64::from(unit)).abs()
        }
    }};
}
use error_in_ulp;
