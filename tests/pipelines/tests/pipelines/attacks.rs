//! What is refused, with its message, and what is not what it should be.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gpukernel_array::{Array, ArrayPipeline, Error};
use gpukernel_pipeline_tests::on_every_device;
use ndarray::s;
use pipeline_test_kernels::{impure::*, *};

/// The message of an error.
fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("it is refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_adaptors_cannot_do_is_an_error_before_the_launch() {
    on_every_device(|device, module| {
        let (i, u) = (Array::from_vec(device, vec![1, 2, 3])?, Array::from_vec(device, vec![1_u32, 2, 3])?);
        let halves = Array::from_vec(device, vec![1_u16, 2, 3])?;
        assert_eq!(
            message(window_sums::call(module, (&i, 0))),
            "`window_sums` has `windows(0)`: a window has at least one item"
        );
        assert_eq!(
            message(chunk_ends::call(module, (&halves, 0))),
            "`chunk_ends` has `chunks(0)`: a chunk has at least one item"
        );
        assert_eq!(
            message(parts::call(module, (&u, 0, 0, 1))),
            "`parts` has `step_by(0)`: a step is at least 1"
        );
        assert_eq!(
            message(numbers::call(module, (0_u64, u64::MAX))),
            "`numbers` has a range of more than `isize::MAX` numbers"
        );
        Ok(())
    });
}

#[test]
fn arrays_that_are_not_contiguous_are_refused() {
    on_every_device(|device, module| {
        let x = Array::from_shape_fn(device, (4, 6), |(i, j)| (i + j) as f32)?;
        let expected = "argument 0 of `sum`, of shape [6, 4], has the strides [1, 6], and a pipeline takes contiguous arrays: `to_owned` copies it";
        assert_eq!(message(sum::call(module, x.t())), expected);
        let every_second = x.slice(s![.., ..;2])?;
        assert!(
            message(rmse::call(module, (&x, &every_second)))
                .starts_with("argument 1 of `rmse`, of shape [4, 3], has the strides [6, 2]")
        );
        assert!(message(softmax::call(module, x.slice(s![.., 1..])?)).contains("strides [6, 1]"));
        let broadcast = x.index_axis(ndarray::Axis(0), 0)?;
        let broadcast = broadcast.broadcast((3, 6))?;
        assert!(message(sum::call(module, broadcast.view())).contains("strides [0, 1]"));
        let backwards = x.slice(s![..;-1, ..;-1])?;
        assert!(message(positives::call(module, (&backwards,))).contains("strides [-6, -1]"));
        // Where there is no element, no stride matters.
        assert_eq!(sum::call(module, x.slice(s![2..2, ..;2])?)?.to_scalar()?, 0.0);
        Ok(())
    });
}

#[test]
fn results_have_the_shape_of_their_memory() {
    on_every_device(|device, module| {
        let x = Array::from_vec(device, vec![1.0_f32; 10])?;
        let mut out = Array::zeros(device, 10)?;
        assert_eq!(
            message(differences::call_into(module, &x, &mut out)),
            "the result of `differences` has the shape [9], and the array for it [10]"
        );
        let mut found = positives::call(module, &Array::from_vec(device, vec![1.0_f32; 9])?)?;
        assert!(message(positives::call_into(module, &x, &mut found)).contains("has the shape [10]"));
        let rows = x.reshape((2, 5))?;
        let mut out = Array::zeros(device, (5, 2))?;
        assert!(message(softmax::call_into(module, &rows, &mut out)).contains("has the shape [2, 5]"));
        Ok(())
    });
}

#[test]
fn elements_are_not_read_on_the_host() {
    on_every_device(|device, module| {
        let x = Array::from_vec(device, vec![1, 2, 3])?;
        let panic = catch_unwind(AssertUnwindSafe(|| reads_at_once::call(module, &x).map(|_| ())));
        let panic = panic.err().and_then(|panic| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        assert!(
            panic.is_some_and(|text| text.starts_with("the elements of an input are there in the closures"))
        );
        Ok(())
    });
}

#[test]
fn impure_pipelines_write_each_element_once() {
    on_every_device(|device, module| {
        let x = Array::from_vec(device, (0..10_000).collect::<Vec<u32>>())?;
        assert!(
            lengths_of_threads::call(module, &x)?.to_vec()?.iter().enumerate().all(|(i, v)| i == *v as usize)
        );
        for counter in 0..3 {
            // Whatever is left: no more than there is room for, and elements of the array or what was there before.
            let found = changing::call(module, (&x, counter))?;
            assert!(found.to_vec()?.len() <= 10_000);
        }
        Ok(())
    });
}
