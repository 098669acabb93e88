//! 32 threads on ten numbers: the eleventh has none, and does not notice.

use gpukernel::{LaunchConfig, Module, Result};
use mistakes_kernels::off_by_one::{add_1, add_1_off_by_one, reciprocal, reciprocal_off_by_one};

/// 1 to 10.
fn numbers() -> Vec<f64> {
    (1..=10).map(f64::from).collect()
}

fn config() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

/// The error of the thread without a number.
pub(crate) fn wrong_reciprocals(module: &Module) -> Result<Vec<f64>> {
    let (x, mut out) = (module.device().upload(&numbers())?, module.device().zeroed(10)?);
    module.launch(reciprocal_off_by_one, config(), (&x, &mut out))?;
    out.to_vec()
}

pub(crate) fn reciprocals(module: &Module) -> Result<Vec<f64>> {
    let (x, mut out) = (module.device().upload(&numbers())?, module.device().zeroed(10)?);
    module.launch(reciprocal, config(), (&x, &mut out))?;
    out.to_vec()
}

/// The error of the thread without a number.
pub(crate) fn wrong_sums(module: &Module) -> Result<Vec<f64>> {
    let mut x = module.device().upload(&numbers())?;
    module.launch(add_1_off_by_one, config(), (&mut x,))?;
    x.to_vec()
}

pub(crate) fn sums(module: &Module) -> Result<Vec<f64>> {
    let mut x = module.device().upload(&numbers())?;
    module.launch(add_1, config(), (&mut x,))?;
    x.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{check_panic, on_every_device, place};

    const SOURCE: &str = include_str!("../kernels/src/off_by_one.rs");
    const MESSAGE: &str = "index out of bounds: the len is 10 but the index is 10";

    #[test]
    fn the_thread_behind_the_last_number_panics() {
        on_every_device(|module| {
            let error = wrong_reciprocals(module).unwrap_err();
            let place_of = |words| place("off_by_one.rs", SOURCE, words);
            check_panic(module.device(), error, &place_of("let reciprocal ="), (0, 10), MESSAGE);
            let error = wrong_sums(module).unwrap_err();
            check_panic(module.device(), error, &place_of("x.get(i)"), (0, 10), MESSAGE);
            Ok(())
        });
    }

    #[test]
    fn each_number_has_a_thread_and_the_other_threads_have_nothing_to_do() {
        on_every_device(|module| {
            let expected = [1.0, 0.5, 1.0 / 3.0, 0.25, 0.2, 1.0 / 6.0, 1.0 / 7.0, 0.125, 1.0 / 9.0, 0.1];
            assert_eq!(reciprocals(module)?, expected);
            assert_eq!(sums(module)?, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
            Ok(())
        });
    }
}
