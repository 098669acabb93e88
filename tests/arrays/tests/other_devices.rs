//! Arrays, modules and streams of devices that are not the same: the CPU, and two GPUs of the simulated driver of the runtime's tests, whose kernels do nothing.
//! `other_devices.txt` has each attack with its message.

#[path = "../../../runtime/tests/common/again.rs"]
mod again;
#[path = "../../../runtime/tests/common/library.rs"]
mod library;

use again::{again, folder, is_inner, succeeded};
use array_test_kernels::{
    cores::{add_to, matmul, normalise_by_blocks, total},
    maximum,
    pipelines::{differences, positives, running_sum, squared_norms, sum},
    squared_sum,
};
use gpukernel::Device;
use gpukernel_array::{Array, ArrayFunction, ArrayPipeline, CoreFunction, Result, add, module as shipped};
use gpukernel_array_tests::{KERNELS, Refusals};
use library::compiled;
use ndarray::{Axis, s};

/// What is at home on one device, and tries to work with what is on another.
fn attacks(home: &Device, other: &Device, r: &mut Refusals) -> Result<()> {
    let (module, theirs) = (home.load(&KERNELS)?, other.load(&KERNELS)?);
    let numbers = |device| Array::from_vec(device, vec![1, 2, 3]);
    let square = |device| numbers(device)?.broadcast((3, 3))?.to_owned();
    let (a, b) = (numbers(home)?, numbers(other)?);
    let (m, n) = (square(home)?, square(other)?);
    r.refused("`vectorize`: the first argument", squared_sum::apply(&module, (&b, &a)));
    r.refused("the second argument", squared_sum::apply(&module, (&a, &b)));
    r.refused("a part of it", squared_sum::apply(&module, (&a.slice(s![..1])?, &b.slice(s![1..;-1])?)));
    r.refused("the only array, beside a scalar", squared_sum::apply(&module, (1, &b)));
    r.refused("all arguments: the module is elsewhere", squared_sum::apply(&theirs, (&a, &a)));
    r.refused("the output", squared_sum::apply_into(&module, (&a, &a), &mut numbers(other)?));
    r.refused("a stream of the other", squared_sum::apply(&module.on(&other.default_stream()), (&a, &a)));
    r.refused("`reduce`", maximum::reduce::<i32, _>(&module, &n, Axis(1)));
    r.refused("`accumulate`", maximum::accumulate::<i32, _>(&module, &n, Axis(0)));
    r.refused("`outer`", squared_sum::outer(&module, &a, &b));
    r.refused("`guvectorize`: an argument", add_to::apply(&module, (&a, &b)));
    r.refused("a matrix", matmul::apply(&module, (&m, &n)));
    r.refused("the only argument", total::apply(&module, (&b,)));
    r.refused("an output of cores", add_to::apply_into(&module, (&a, &a), &mut square(other)?));
    r.refused("a block for each core", normalise_by_blocks::apply(&module, (&square_of_floats(other)?,)));
    r.refused("`add`, which the operators call", add::apply(&shipped(home)?, (&a, &b)));
    r.panics("`+`", || &a + &b);
    r.panics("`+=`", || numbers(home).map(|mut a| a += &b));
    r.refused("`assign`", numbers(home)?.assign(&b));
    r.refused("`assign` to a part", square(home)?.index_axis_mut(Axis(0), 1)?.assign(&b));
    Ok(())
}

/// The same with reductions and pipelines. A filter and a scan are two kernels, of which the second writes the result.
fn attacks_on_pipelines(home: &Device, other: &Device, r: &mut Refusals) -> Result<()> {
    let (module, theirs) = (home.load(&KERNELS)?, other.load(&KERNELS)?);
    let numbers = |device| Array::from_vec(device, vec![1, 2, 3]);
    let (a, b) = (numbers(home)?, numbers(other)?);
    let (m, n) = (a.broadcast((3, 3))?.to_owned()?, b.broadcast((3, 3))?.to_owned()?);
    r.refused("`reduction`: its argument", sum::call(&module, &b));
    r.refused("its result", sum::call_into(&module, &a, &mut Array::<i32, _>::zeros(other, ())?));
    r.refused("its argument: the module is elsewhere", sum::call(&theirs, &a));
    r.refused("its stream", sum::call(&module.on(&other.default_stream()), &a));
    r.refused("`pipeline`: the second argument", differences::call(&module, (&a, &b)));
    r.refused("an array of results", differences::call_into(&module, (&a, &a), &mut numbers(other)?));
    r.refused("the argument of a filter", positives::call(&module, &b));
    let mut theirs = positives::call(&theirs, &b)?;
    r.refused("what a filter leaves, and its length", positives::call_into(&module, &a, &mut theirs));
    r.refused("the argument of a scan", running_sum::call(&module, &b));
    r.refused("the result of a scan", running_sum::call_into(&module, &a, &mut numbers(other)?));
    r.refused("a matrix of rows", squared_norms::call(&module, &n));
    r.refused("a result for each row", squared_norms::call_into(&module, &m, &mut numbers(other)?));
    Ok(())
}

fn square_of_floats(device: &Device) -> Result<Array<f32, ndarray::Ix2>> {
    Array::zeros(device, (3, 3))
}

#[test]
fn arrays_of_other_devices_are_refused_with_these_messages() {
    if !is_inner() {
        let driver = folder("driver");
        compiled("../../../runtime/tests/driver/driver.rs", driver.join("libcuda.so.1"));
        return succeeded(&again(&[("LD_LIBRARY_PATH", &driver), ("FAKE_DEVICES", "2".as_ref())]));
    }
    let [cpu, first, second] = [Ok(Device::cpu()), Device::gpu(0), Device::gpu(1)]
        .map(|device| device.expect("two GPUs are simulated"));
    let mut refusals = Refusals::default();
    for (name, home, other) in [
        ("A GPU, and memory of another", &first, &second),
        ("A GPU, and memory of the host", &second, &cpu),
        ("The CPU device, and memory of a GPU", &cpu, &first),
    ] {
        refusals.group(name);
        gpukernel_array_tests::without_bytes(home).unwrap_or_else(|error| panic!("{name}: {error}"));
        for part in [attacks, attacks_on_pipelines] {
            part(home, other, &mut refusals).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
    refusals.compare(&cpu, "other_devices.txt", include_str!("other_devices.txt"));
}
