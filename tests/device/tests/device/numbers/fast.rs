//! Fast functions within the errors that are documented for them, where these are small.

use gpukernel::for_each;
use gpukernel_device_test_kernels::numbers::{FAST, fast};
use gpukernel_device_tests::on_every_device;

use super::number_of;

/// Computes a function in steps of a range, the second argument being `y`, and gives each argument and value to the check.
fn check(
    name: &str,
    range: (f32, f32),
    y: f32,
    exact: fn(f64, f64) -> f64,
    allowed: impl Fn(f64, f64) -> f64,
) {
    const STEPS: u16 = 2000;
    let step = (range.1 - range.0) / f32::from(STEPS);
    let xs: Vec<f32> = (0..=STEPS).map(|i| range.0 + f32::from(i) * step).collect();
    on_every_device(|device, module| {
        let mut out = device.zeroed::<f32>(xs.len())?;
        let (x, ys) = (device.upload(&xs)?, device.filled(xs.len(), y)?);
        module.launch(fast, for_each(xs.len()), (number_of(FAST, name), &*x, &*ys, &mut *out))?;
        for (&x, found) in xs.iter().zip(out.to_vec()?) {
            let exact = exact(x.into(), y.into());
            let allowed = allowed(x.into(), exact);
            let error = (f64::from(found) - exact).abs();
            assert!(
                error <= allowed,
                "{name}({x:e}, {y:e}) = {found:e}, not {exact:e}: {error:e}, {allowed:e} allowed"
            );
        }
        Ok(())
    });
}

/// So many units in the last place of a value.
fn ulp(count: f64) -> impl Fn(f64, f64) -> f64 {
    move |_, exact| (count + 0.5) * unit(exact)
}

fn unit(value: f64) -> f64 {
    let value = value.abs() as f32;
    f64::from(value.next_up()) - f64::from(value)
}

/// An absolute error, at least that of a rounding.
fn absolute(power: f64) -> impl Fn(f64, f64) -> f64 {
    move |_, exact| power.exp2().max(unit(exact))
}

const PI: f32 = std::f32::consts::PI;

#[test]
fn sine() {
    check("fast_sin", (-PI, PI), 0.0, |x, _| x.sin(), absolute(-21.41));
}

#[test]
fn cosine() {
    check("fast_cos", (-PI, PI), 0.0, |x, _| x.cos(), absolute(-21.19));
}

#[test]
fn sine_of_both() {
    check("fast_sin_cos.0", (-PI, PI), 0.0, |x, _| x.sin(), absolute(-21.41));
}

#[test]
fn cosine_of_both() {
    check("fast_sin_cos.1", (-PI, PI), 0.0, |x, _| x.cos(), absolute(-21.19));
}

#[test]
fn tangent_between_its_poles() {
    check("fast_tan", (-1.0, 1.0), 0.0, |x, _| x.tan(), absolute(-18.5));
}

#[test]
fn hyperbolic_tangent() {
    check("fast_tanh", (-8.0, 8.0), 0.0, |x, _| x.tanh(), |_, exact| (-10.98_f64).exp2() * exact.abs());
}

#[test]
fn exponential() {
    check(
        "fast_exp",
        (-20.0, 20.0),
        0.0,
        |x, _| x.exp(),
        |x, exact| (2.5 + (1.173 * x).abs().floor()) * unit(exact),
    );
}

#[test]
fn exponential_to_base_2() {
    check("fast_exp2", (-30.0, 30.0), 0.0, |x, _| x.exp2(), ulp(2.0));
}

#[test]
fn exponential_to_base_10() {
    check(
        "fast_exp10",
        (-10.0, 10.0),
        0.0,
        |x, _| 10_f64.powf(x),
        |x, exact| (2.5 + (2.97 * x).abs().floor()) * unit(exact),
    );
}

#[test]
fn natural_logarithm_near_1() {
    check("fast_ln", (0.5, 2.0), 0.0, |x, _| x.ln(), absolute(-21.41));
}

#[test]
fn natural_logarithm_of_large_numbers() {
    check("fast_ln", (3.0, 1e6), 0.0, |x, _| x.ln(), ulp(3.0));
}

#[test]
fn logarithm_to_base_2() {
    check("fast_log2", (0.5, 2.0), 0.0, |x, _| x.log2(), absolute(-22.0));
}

#[test]
fn logarithm_to_base_10() {
    check("fast_log10", (3.0, 1e6), 0.0, |x, _| x.log10(), ulp(3.0));
}

#[test]
fn power() {
    check("fast_powf", (0.5, 4.0), 1.5, f64::powf, |_, exact| 8.0 * unit(exact));
}

#[test]
fn quotient() {
    check("fast_div", (-1000.0, 1000.0), 7.3, |x, y| x / y, ulp(2.0));
}

#[test]
fn reciprocal() {
    check("fast_recip", (0.01, 100.0), 0.0, |x, _| 1.0 / x, ulp(1.0));
}

#[test]
fn square_root() {
    check("fast_sqrt", (0.0, 1e5), 0.0, |x, _| x.sqrt(), ulp(2.0));
}
