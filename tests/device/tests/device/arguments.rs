//! Arguments by value and by reference arrive as they were given.

use gpukernel::{Error, for_each};
use gpukernel_device_test_kernels::arguments::{
    Direction, Float4, Mixed, Tables, all_largest, broadcast, chosen, chosen_from_changed, copy, many,
    required, scale4, tuples,
};
use gpukernel_device_tests::on_every_device;

#[test]
fn structs_by_value() {
    let value = Mixed { a: 200, b: -1.5, c: -30_000, d: 1e300, e: [1, 2, 3] };
    on_every_device(|device, module| {
        let mut out = device.filled(100, Mixed::default())?;
        module.launch(broadcast, for_each(100), (value, &mut out))?;
        for (i, found) in out.to_vec()?.into_iter().enumerate() {
            assert_eq!(found, Mixed { e: [1, 2, i as u16], ..value });
        }
        Ok(())
    });
}

/// Which kernels read where the driver put them.
#[test]
fn tables_by_value() {
    let tables = Tables {
        bytes: std::array::from_fn(|i| 100 + i as u8),
        words: std::array::from_fn(|i| -1_000_000 * i as i32 - 7),
        rows: std::array::from_fn(|i| std::array::from_fn(|j| (10 * i + j) as i16 - 20)),
        doubles: std::array::from_fn(|i| 1e9 * i as f64 + 0.5),
    };
    let weights: [f32; 9] = std::array::from_fn(|i| i as f32 * 0.125);
    let at: Vec<[u32; 2]> = (0..1000).map(|k| [k * 7 % 91, k * k % 97]).collect();
    on_every_device(|device, module| {
        let indices = device.upload(&at)?;
        let mut out = device.zeroed::<f64>(at.len())?;
        module.launch(chosen, for_each(at.len()), (tables, weights, &indices, &mut out))?;
        for ([i, j], found) in at.iter().map(|at| at.map(|i| i as usize)).zip(out.to_vec()?) {
            let expected = f64::from(tables.bytes[i % 13])
                + f64::from(tables.words[i % 7])
                + f64::from(tables.rows[i % 5][j % 3])
                + tables.doubles[j % 5]
                + f64::from(weights[j % 9]);
            assert_eq!(found, expected, "{i}, {j}");
        }
        module.launch(chosen_from_changed, for_each(at.len()), (tables, &indices, &mut out))?;
        for ([i, j], found) in at.iter().map(|at| at.map(|i| i as usize)).zip(out.to_vec()?) {
            let changed = tables.words[i % 7] + if i % 7 == j % 7 { 1000 } else { 0 };
            assert_eq!(found, f64::from(changed) + f64::from(tables.words[i % 7]), "{i}, {j}");
        }
        Ok(())
    });
}

#[test]
fn structs_of_sixteen_bytes() {
    let factor = Float4 { values: [1.0, 2.0, 4.0, 8.0] };
    let xs: Vec<Float4> = (0..257).map(|i| Float4 { values: [i as f32; 4] }).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut y = device.filled(xs.len(), Float4::default())?;
        module.launch(scale4, for_each(xs.len()), (factor, &x, &mut y))?;
        for (i, found) in y.to_vec()?.into_iter().enumerate() {
            assert_eq!(found.values, factor.values.map(|factor| factor * i as f32));
        }
        Ok(())
    });
}

#[test]
fn many_parameters_of_every_size() {
    let xs: Vec<u16> = (0..300).collect();
    let ys: Vec<f64> = xs.iter().map(|&x| f64::from(x) / 2.0).collect();
    on_every_device(|device, module| {
        let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
        let mut out = device.zeroed::<f64>(xs.len())?;
        let args = (
            255,
            &*x,
            1 << 40,
            true,
            &*y,
            -300,
            0.25,
            [1, 2, 3],
            -100,
            5_u128 << 64,
            'ß',
            1 << 33,
            &mut *out,
        );
        module.launch(many, for_each(xs.len()), args)?;
        let scalars =
            255.0 + 2_f64.powi(40) + 1.0 - 300.0 + 0.25 + 6.0 - 100.0 + 5.0 + 223.0 + 2_f64.powi(33);
        for (i, found) in out.to_vec()?.into_iter().enumerate() {
            assert_eq!(found, scalars + 1.5 * i as f64, "element {i}");
        }
        Ok(())
    });
}

#[test]
fn enums_by_value() {
    let values: Vec<i32> = (0..1000).collect();
    let reversed: Vec<i32> = values.iter().rev().copied().collect();
    on_every_device(|device, module| {
        let from = device.upload(&values)?;
        let mut to = device.zeroed::<i32>(values.len())?;
        module.launch(copy, for_each(values.len()), (Direction::Forwards, &from, &mut to))?;
        assert_eq!(to.to_vec()?, values);
        module.launch(copy, for_each(values.len()), (Direction::Backwards, &from, &mut to))?;
        assert_eq!(to.to_vec()?, reversed);
        Ok(())
    });
}

#[test]
fn generic_functions_below_a_kernel() {
    on_every_device(|device, module| {
        let x = device.upload(&[3.0, -1.0, 8.5, 2.0])?;
        let mut out = device.zeroed::<f32>(40)?;
        module.launch(all_largest, for_each(40), (&x, &mut out))?;
        assert_eq!(out.to_vec()?, [8.5; 40]);
        Ok(())
    });
}

/// The same memory may be given twice to be read.
#[test]
fn one_slice_as_two_arguments() {
    use gpukernel_device_test_kernels::libraries::norm;
    on_every_device(|device, module| {
        let x = device.upload(&[3.0, 0.0])?;
        let mut out = device.zeroed::<f64>(2)?;
        module.launch(norm, for_each(2), (&x, &x, &mut out))?;
        let found = out.to_vec()?;
        assert!((found[0] - 18_f64.sqrt()).abs() < 1e-15 * 8.0 && found[1] == 0.0, "{found:?}");
        Ok(())
    });
}

#[test]
fn what_a_kernel_requires_of_its_arguments_is_checked() {
    on_every_device(|device, module| {
        let (long, short) = (device.upload(&[2.0, 4.0, 6.0])?, device.upload(&[2.0])?);
        let mut out = device.zeroed::<f32>(2)?;
        module.launch(required, for_each(2), (&long, 2, &mut out))?;
        assert_eq!(out.to_vec()?, [1.0, 2.0]);
        for (x, step) in [(&short, 2), (&long, 0)] {
            let error = module.launch(required, for_each(2), (x, step, &mut out)).unwrap_err();
            assert!(matches!(error, Error::RequirementNotMet { .. }), "{error:?}");
            assert!(error.to_string().contains("requires `x.len() >= y.len() && step > 0`"), "{error}");
        }
        Ok(())
    });
}

#[test]
fn tuples_by_value() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<f64>(3)?;
        let args = ((200, 1e9, 60_000), ([1, 2], true, 'é'), (0.5,), &mut *out);
        module.launch(tuples, for_each(3), args)?;
        let sum = 200.0 + 1e9 + 60_000.0 + 0.5 + 233.0;
        assert_eq!(out.to_vec()?, [sum + 1.0, sum + 2.0, sum + 1.0]);
        Ok(())
    });
}
