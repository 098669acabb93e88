//! Random programs compute the same bits on every device, whatever the grid.

use gpukernel::{Device, Grid, Module, Result};
use gpukernel_program_tests::KERNELS;
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use random_programs::{Input, Outcome, programs};

/// Threads per case: more than a warp and not a multiple of one.
const THREADS: usize = 200;

/// Any numbers, special ones and small ones often.
fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let u32s = prop_oneof![any::<[u32; 2]>(), [0_u32..20, 0..20]];
    let i32s = prop_oneof![any::<[i32; 2]>(), [-9_i32..9, -9..9]];
    let u64s = prop_oneof![any::<[u64; 2]>(), [0_u64..20, 0..20]];
    let i64s = prop_oneof![any::<[i64; 2]>(), [-9_i64..9, -9..9]];
    let singles = prop_oneof![proptest::num::f32::ANY, proptest::num::f32::ANY, -100_f32..100.0];
    let doubles = prop_oneof![proptest::num::f64::ANY, proptest::num::f64::ANY, -100_f64..100.0];
    let f32s = [singles.clone(), singles];
    let f64s = [doubles.clone(), doubles];
    let input = (u32s, i32s, u64s, i64s, f32s, f64s).prop_map(|(u32s, i32s, u64s, i64s, f32s, f64s)| Input {
        u32s,
        i32s,
        u64s,
        i64s,
        f32s,
        f64s,
    });
    vec(input, THREADS)
}

/// Runs a program on inputs that shrink to those that differ.
fn agree(run: impl Fn(&Device, &Module, &[Input], Grid) -> Result<Vec<Outcome>>) {
    let devices =
        gpukernel::devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    let loaded: Vec<_> = devices
        .iter()
        .map(|device| (device, device.load(&KERNELS).unwrap_or_else(|error| panic!("{error}"))))
        .collect();
    let run = |device, module, inputs: &[Input], grid| {
        run(device, module, inputs, grid).unwrap_or_else(|error| panic!("{error}"))
    };
    let Some((cpu, on_cpu)) = loaded.iter().find(|(device, _)| !device.is_gpu()) else {
        panic!("the CPU is one of the devices")
    };
    let config = Config { cases: 8, failure_persistence: None, ..Config::default() };
    // Always the same inputs.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&inputs(), |inputs| {
        let expected = run(cpu, on_cpu, &inputs, Grid::new(1, 1));
        for (device, module) in &loaded {
            for grid in [Grid::new(THREADS.div_ceil(64), 64), Grid::new(3, 20)] {
                let found = run(device, module, &inputs, grid);
                for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    prop_assert_eq!(found, expected, "on {} from {:?}", device, inputs[i]);
                }
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

macro_rules! tests {
    ($($program:ident)*) => {$(
        #[test]
        fn $program() {
            agree(|device, module, inputs, grid| {
                let input = device.upload(inputs)?;
                let mut outcomes = device.filled(inputs.len(), Outcome::default())?;
                module.launch(random_programs::$program, grid, (&input, &mut outcomes))?;
                outcomes.to_vec()
            });
        }
    )*};
}

programs!(tests);
