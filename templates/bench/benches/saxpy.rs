//! `cargo bench` measures the kernel on every device of this machine, for vectors of several lengths.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gpukernel::{Buffer, Device, Image, Module, Result, for_each};
use my_project_kernels::saxpy;

static KERNELS: Image = gpukernel::image!("kernels");

criterion_group!(benches, bench_saxpy);
criterion_main!(benches);

fn bench_saxpy(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("saxpy");
    for device in gpukernel::devices().expect("the devices can be listed") {
        for elements in [1 << 16, 1 << 20, 1 << 24] {
            let bytes = 3 * elements * size_of::<f32>(); // reads x and y, writes y
            group.throughput(Throughput::Bytes(bytes as u64));
            let mut vectors = Vectors::new(&device, elements).expect("the memory suffices");
            vectors.check().expect("the kernel runs");
            group.bench_function(BenchmarkId::new(device.to_string(), elements), |bencher| {
                bencher.iter_custom(|launches| vectors.time(launches).expect("the kernel runs"));
            });
        }
    }
}

struct Vectors {
    module: Module,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

impl Vectors {
    fn new(device: &Device, elements: usize) -> Result<Self> {
        let module = device.load(&KERNELS)?;
        Ok(Self {
            module,
            x: device.upload(&vec![1.0; elements])?,
            y: device.zeroed(elements)?,
        })
    }

    fn launch(&mut self) -> Result<()> {
        self.module
            .launch(saxpy, for_each(self.y.len()), (2.0, &self.x, &mut self.y))
    }

    /// Compares the result with what it must be: what computes something else is not worth measuring.
    fn check(&mut self) -> Result<()> {
        self.launch()?;
        assert!(self.y.to_vec()?.iter().all(|&y| y == 2.0));
        Ok(())
    }

    /// The time of this many launches.
    fn time(&mut self, launches: u64) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..launches {
            self.launch()?;
        }
        self.module.device().synchronize()?;
        Ok(start.elapsed())
    }
}
