//! Both ways: cust's streams and memory here, ours there.

use std::{error::Error, sync::Arc};

use cust::{launch, memory::CopyDestination, module::Module, prelude::*};
use cust_test_kernels::saxpy;
use gpukernel::{Buffer, Device as Gpu, RawArg, Stream as Ours, for_each};

use crate::KERNELS;

type Result<T = (), E = Box<dyn Error>> = std::result::Result<T, E>;

/// Elements: more than a block has.
const LEN: usize = 1000;

/// Values of a program that uses both; with a driver whose kernels do nothing they stay as they were.
fn both_ways(kernels_run: bool) -> Result {
    let device = Gpu::gpu(0)?;
    let _context = device.to_cust()?;
    assert_eq!(Gpu::from_cust(&cust::device::Device::get_device(0)?)?, device);
    let expected = |after: f32, before: f32| vec![if kernels_run { after } else { before }; LEN];
    let module = device.load(&KERNELS)?;
    let code = device.code_of(&KERNELS)?;
    let name = code.symbol("cust_test_kernels::saxpy").ok_or("the image has no saxpy")?;
    assert_eq!(code.symbol("cust_test_kernels::nothing"), None);
    let theirs = match (code.cubin(), code.ptx()) {
        (Some(cubin), _) => Module::from_cubin(cubin, &[])?,
        (None, ptx) => Module::from_ptx(ptx.unwrap_or_default(), &[])?,
    };
    let kernel = theirs.get_function(name)?;

    // Our kernel on a stream of cust, which is there as long as ours.
    let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None)?);
    let ours = Ours::from_cust(Arc::clone(&stream))?;
    assert_eq!(ours.as_raw().map(|raw| raw.addr()), Some(stream.as_inner().addr()));
    let x = device.filled(LEN, 1.0_f32)?;
    let mut y = device.filled(LEN, 10.0_f32)?;
    ours.launch(&module, saxpy, for_each(LEN), (2.0, &x, &mut y))?;

    // cust's launch of it on our memory, after ours, and before what another stream does.
    let (from, to) = (x.to_cust()?, y.to_cust()?);
    // SAFETY: the arguments are those of the kernel, and as long as each other; it reads `x` and writes `y`.
    unsafe {
        ours.queue(
            &[RawArg::slice(&x), RawArg::slice_mut(&mut y)],
            |_| launch!(kernel<<<4, 256, 0, stream>>>(3.0_f32, from, LEN, to, LEN)),
        )??;
    }
    let mut copy = device.zeroed::<f32>(LEN)?;
    device.stream()?.copy(&y, &mut copy)?;
    assert_eq!(copy.to_vec()?, expected(15.0, 10.0));
    drop((stream, ours));

    // Our memory as cust's, which copies it.
    let given = y.into_cust()?;
    let mut found = vec![0.0; LEN];
    given.copy_to(&mut found)?;
    assert_eq!(found, expected(15.0, 10.0));
    // And back, twice: the second time it is cust's own again.
    // SAFETY: it is of this context, not in use, and has values.
    let mut taken = unsafe { Buffer::from_cust(given)? };
    module.launch(saxpy, for_each(LEN), (1.0, &x, &mut taken))?;
    let given = taken.into_cust()?;
    given.copy_to(&mut found)?;
    assert_eq!(found, expected(16.0, 10.0));
    drop(given);

    // SAFETY: as above.
    let buffer = unsafe { Buffer::from_cust(DeviceBuffer::from_slice(&[5.0_f32; 3])?)? };
    assert_eq!((buffer.len(), buffer.to_vec()?), (3, vec![5.0; 3]));
    // Without a current context it is freed, too.
    std::thread::spawn(move || drop(buffer)).join().map_err(|_| "it panicked")?;
    let error = device.zeroed::<f32>(0)?.into_cust().map(drop).unwrap_err();
    assert!(error.to_string().contains("without bytes"), "{error}");

    drop((x, copy));
    device.synchronize()?;
    let memory = device.memory_info();
    assert_eq!((memory.buffers, memory.buffer_bytes), (0, 0));
    Ok(())
}

#[test]
fn the_cpu_has_nothing_for_cust() {
    let device = Gpu::cpu();
    let buffer = device.upload(&[1.0_f32]).unwrap();
    for error in [
        device.to_cust().map(drop).unwrap_err(),
        device.code_of(&KERNELS).map(drop).unwrap_err(),
        buffer.to_cust().map(drop).unwrap_err(),
        buffer.into_cust().map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, gpukernel::Error::NeedsGpu { .. }), "{error}");
    }
}

/// `cargo test` puts the driver that simulates a GPU in the loader's path, for which this is; elsewhere there is the machine's.
#[test]
fn types_are_the_same_for_both_with_a_simulated_driver() {
    match Gpu::gpu(0) {
        Ok(device) if device.name().starts_with("simulated") => {
            both_ways(false).unwrap();
            assert_eq!(crate::saxpy(2.0, &[1.0; 5], &[3.0; 5]).unwrap(), [3.0; 5]);
        }
        other => println!("there is a driver of the machine: {other:?}"),
    }
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn cust_and_this_crate_compute_with_the_same_streams_and_memory() {
        both_ways(true).unwrap();
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn a_program_of_cust_launches_a_kernel_of_an_image() {
        let x: Vec<f32> = (0..LEN).map(|i| i as f32).collect();
        let result = crate::saxpy(2.0, &x, &[100.0; LEN]).unwrap();
        assert!(result.iter().enumerate().all(|(i, &y)| y == 100.0 + 2.0 * i as f32), "{result:?}");
    }
}
