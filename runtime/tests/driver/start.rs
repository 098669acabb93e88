//! The driver that programs find: too old, without GPUs, or none.

use std::fs;

use gpukernel::{Device, Error};

use crate::{
    again::{again, folder, is_inner, succeeded},
    driver,
    library::compiled,
    simulated,
};

#[test]
fn a_driver_that_is_too_old_says_so() {
    simulated(&[("FAKE_VERSION", "11080")], || {
        for result in [Device::gpu(0).map(drop), gpukernel::devices().map(drop)] {
            let text = result.unwrap_err().to_string();
            assert!(text.contains("11.8") && text.contains("12.0"), "{text}");
        }
        Ok(())
    });
}

/// No such file, also where this machine has one: the dynamic linker finds none, and not even the simulated driver.
#[test]
fn a_driver_that_is_not_there_says_so() {
    if is_inner() {
        // SAFETY: at most it is the driver.
        let missing = unsafe { libloading::Library::new("libcuda.so.1") }.map(drop).unwrap_err();
        assert!(format!("{missing:?}").contains("No such file"), "{missing:?}");
        let error = Device::gpu(0).unwrap_err();
        assert!(matches!(&error, Error::NoDriver { asked } if asked == "gpu:0"), "{error}");
        assert_eq!(
            error.to_string(),
            "gpu:0 was asked for, but there is no NVIDIA driver on this machine: libcuda.so.1 cannot be loaded; \
             install the driver (or, in a container, start it with GPU support), or use the device `cpu`"
        );
        assert_eq!(gpukernel::devices().unwrap(), [Device::cpu()]);
        assert_eq!(Device::best().unwrap(), Device::cpu());
        return;
    }
    let folder = folder(&format!("missing {}", std::process::id()));
    let auditor = compiled("driver/missing.rs", folder.join("libmissing.so"));
    succeeded(&again(&[("LD_LIBRARY_PATH", driver()), ("LD_AUDIT", &auditor)]));
}

/// A file that is no library, and a library that is no driver.
#[test]
fn a_driver_that_cannot_be_loaded_says_so() {
    if is_inner() {
        let error = Device::gpu(0).unwrap_err();
        assert!(matches!(error, Error::NoDriver { .. }), "{error}");
        assert!(error.to_string().contains("libcuda.so.1 cannot be loaded"), "{error}");
        assert_eq!(gpukernel::devices().unwrap(), [Device::cpu()]);
        assert_eq!(Device::best().unwrap(), Device::cpu());
        return;
    }
    for (name, is_library) in [("text", false), ("no driver", true)] {
        let folder = folder(&format!("{name} {}", std::process::id()));
        for name in ["libcuda.so.1", "libcuda.so"] {
            if is_library {
                compiled("driver/nothing.rs", folder.join(name));
            } else {
                fs::write(folder.join(name), "no library").expect("the folder is there");
            }
        }
        succeeded(&again(&[("LD_LIBRARY_PATH", &folder)]));
    }
}

#[test]
fn a_driver_without_gpus_leaves_the_cpu() {
    simulated(&[("FAKE_DEVICES", "0")], || {
        assert_eq!(gpukernel::devices()?, [Device::cpu()]);
        assert!(matches!(Device::gpu(0), Err(Error::NoSuchGpu { asked: 0, present: 0 })));
        Ok(())
    });
}
