//! States of random numbers. There is nothing to compare their time with: Numba makes them one after another on the host, cuRAND has no
//! xoroshiro128+.

use benchmark_kernels::random_states;
use gpu_std::rng::{Generator, Xoroshiro128Plus};
use gpukernel::{Buffer, for_each};
use gpukernel_bench::{Bench, Output, Result, bench};

use super::KERNELS;

const SEED: u64 = 1;

/// States, of which the first number of each is compared.
struct States(Buffer<Xoroshiro128Plus>);

impl Output for States {
    type Values = Vec<u64>;

    fn values(&self) -> Result<Vec<u64>> {
        Ok(self.0.to_vec()?.into_iter().map(|mut state| state.next_u64()).collect())
    }
}

#[bench(states = [1_000_000])]
fn xoroshiro128_plus(bench: &mut Bench<'_>, states: usize) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let mut output = States(device.filled(states, Xoroshiro128Plus::new(0))?);
    let first = |i: usize| Xoroshiro128Plus::subsequence(SEED, i as u64).next_u64();
    bench
        .measure()
        .elements(states)
        .bytes(states * size_of::<Xoroshiro128Plus>()) // written
        .expect((0..states).map(first).collect())
        .provider("gpukernel", &mut output, |output| {
            module.launch(random_states, for_each(states), (SEED, &mut output.0))
        })
        .run()
}
