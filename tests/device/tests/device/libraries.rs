//! Libraries from crates.io inside kernels give what they give on the host.

use glam::{Vec2, Vec3, Vec4};
use gpu_std::Plain;
use gpukernel::for_each;
use gpukernel_device_test_kernels::libraries::{Body, norm, plain, polynomials, special, turn};
use gpukernel_device_tests::on_every_device;

#[test]
fn glam_turns_points() {
    let points: Vec<[f32; 3]> = (0..100).map(|i| [i as f32, 1.0, -2.0]).collect();
    on_every_device(|device, module| {
        let given = device.upload(&points)?;
        let mut turned = device.filled(points.len(), [0.0; 3])?;
        let mut apart = device.filled(points.len(), f32::NAN)?;
        let quarter = std::f32::consts::FRAC_PI_2;
        let args = ([0.0, 0.0, 3.0], quarter, &*given, &mut *turned, &mut *apart);
        module.launch(turn, for_each(points.len()), args)?;
        for (point, turned) in points.iter().zip(turned.to_vec()?) {
            let expected = [-point[1], point[0], point[2]];
            for axis in 0..3 {
                assert!((turned[axis] - expected[axis]).abs() < 1e-4, "{point:?} became {turned:?}");
            }
        }
        assert!(apart.to_vec()?.into_iter().all(|distance| distance < 1e-4));
        Ok(())
    });
}

#[test]
fn vectors_of_glam_are_plain_data() {
    let colours: Vec<Vec4> = (0..32).map(|i| Vec4::new(1.0, 2.0, 3.0, i as f32)).collect();
    let points: Vec<Vec3> = (0..32).map(|i| Vec3::new(i as f32, 0.0, -1.0)).collect();
    on_every_device(|device, module| {
        let on_device = device.upload(Plain::from_values(&colours))?;
        let mut moved = device.upload(Plain::from_values(&points))?;
        let mut bodies = device.filled(32, Body { position: Plain(Vec3::ONE), mass: 3.0 })?;
        let by = Plain(Vec2::new(0.5, 0.25));
        module.launch(plain, for_each(32), (by, &on_device, &mut moved, &mut bodies))?;
        for (i, found) in moved.to_vec()?.into_iter().enumerate() {
            let neighbour = ((i + 1) % 32) as f32;
            assert_eq!(*found, points[i] + Vec3::new(0.5, 0.25, i as f32) + Vec3::splat(neighbour));
        }
        for (i, found) in bodies.to_vec()?.into_iter().enumerate() {
            assert_eq!(found, Body { position: Plain(Vec3::splat(3.0)), mass: 6.0 + i as f32 });
        }
        Ok(())
    });
}

#[test]
fn libm_computes_as_on_the_host() {
    let xs: Vec<f64> = (1..200).map(|i| f64::from(i) * 0.05).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut out = device.filled(xs.len(), [0.0; 3])?;
        module.launch(special, for_each(xs.len()), (&x, &mut out))?;
        for (&x, found) in xs.iter().zip(out.to_vec()?) {
            let expected = [libm::erf(x), libm::lgamma(x), libm::j0(x)];
            for (found, expected) in found.iter().zip(expected) {
                // Not equal: a·b+c is rounded once on a GPU.
                assert!((found - expected).abs() < 1e-13, "{x}: {found} instead of {expected}");
            }
        }
        Ok(())
    });
}

#[test]
fn num_traits_makes_functions_generic() {
    let xs: Vec<i64> = (-100..100).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut exact = device.zeroed::<i64>(xs.len())?;
        let mut rounded = device.zeroed::<f64>(xs.len())?;
        module.launch(polynomials, for_each(xs.len()), (&x, &mut exact, &mut rounded))?;
        let expected: Vec<i64> = xs.iter().map(|x| 7 - 3 * x + 2 * x * x * x).collect();
        assert_eq!(exact.to_vec()?, expected);
        assert!(rounded.to_vec()?.into_iter().eq(expected.iter().map(|&value| value as f64)));
        Ok(())
    });
}

#[test]
fn num_traits_floats_call_libm() {
    on_every_device(|device, module| {
        let x = device.upload(&[3.0, 5.0, 1e200])?;
        let y = device.upload(&[4.0, 12.0, 0.0])?;
        let mut out = device.zeroed::<f64>(3)?;
        module.launch(norm, for_each(3), (&x, &y, &mut out))?;
        assert_eq!(out.to_vec()?, [5.0, 13.0, 1e200]);
        Ok(())
    });
}
