//! Memory and events of other processes, with the simulated driver, which opens those of its own.

use std::{
    mem,
    panic::{self, AssertUnwindSafe},
};

use gpukernel::{Device, Error, IpcEventHandle, IpcMemoryHandle};

use crate::{alive, is_inner, peers::raw, simulated, waits, with_driver};

#[test]
fn memory_and_events_are_given_and_opened() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let stream = device.stream()?;
        let mut buffer = device.exportable::<u32>(5)?;
        assert_eq!(buffer.to_vec()?, [0; 5]);
        buffer.copy_from(&[1, 2, 3, 4, 5])?;
        let handle = IpcMemoryHandle::from_bytes(buffer.ipc_handle()?.to_bytes());
        assert_eq!(handle.size_bytes(), 20);
        let ours = stream.record_exportable()?;
        // SAFETY: the event is kept.
        let event = unsafe { device.open_event(&IpcEventHandle::from_bytes(ours.ipc_handle()?.to_bytes()))? };
        stream.wait(&event)?;
        event.synchronize()?;
        // SAFETY: the buffer is kept, and not used meanwhile.
        let found = unsafe {
            device.with_ipc_memory::<u32, _>(&handle, |numbers| {
                let found = numbers.to_vec()?;
                let twos = device.filled(2, 2_u32)?;
                stream.copy(&twos, &mut numbers[..2])?;
                Ok(found)
            })?
        };
        assert_eq!((found, buffer.to_vec()?), (vec![1, 2, 3, 4, 5], vec![2, 2, 3, 4, 5]));
        // Errors and panics close it, too; what is wrong is refused before.
        // SAFETY: as above.
        let error = unsafe { device.with_ipc_memory::<u32, _>(&handle, |numbers| numbers.copy_from(&[1])) };
        assert!(matches!(error, Err(Error::LengthMismatch { .. })), "{error:?}");
        // SAFETY: as above.
        let error = unsafe { device.with_ipc_memory::<[u32; 3], _>(&handle, |_| Ok(())) }.unwrap_err();
        assert!(error.to_string().contains("20 bytes are not whole elements"), "{error}");
        let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: as above.
            unsafe { device.with_ipc_memory::<u32, ()>(&handle, |_| panic!("as it happens")) }
        }));
        assert!(panicked.is_err());
        // SAFETY: the driver finds that it is none.
        let error =
            unsafe { device.with_ipc_memory::<u32, _>(&IpcMemoryHandle::from_bytes([1; 72]), |_| Ok(())) };
        assert!(error.is_err());
        for error in [
            device.zeroed::<u32>(5)?.ipc_handle().unwrap_err(),
            device.exportable::<u32>(0)?.ipc_handle().unwrap_err(),
        ] {
            assert!(matches!(error, Error::Foreign { .. }), "{error}");
        }
        assert!(matches!(device.exportable::<u64>(usize::MAX), Err(Error::TooManyElements { .. })));
        assert!(matches!(device.exportable::<u8>(1 << 31), Err(Error::OutOfMemory { .. })));
        drop((buffer, ours, event));
        assert_eq!((alive(), device.memory_info().buffers), (0, 0));
        Ok(())
    });
}

/// The memory is closed after its work.
#[test]
fn a_graph_may_be_leaked_with_memory_that_is_lent() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let (stream, buffer) = (device.stream()?, device.exportable::<u32>(5)?);
        let handle = buffer.ipc_handle()?;
        let (here, default) = (raw(&stream), raw(&device.default_stream()));
        // SAFETY: the buffer is kept, and not used meanwhile.
        unsafe {
            device.with_ipc_memory::<u32, _>(&handle, |numbers| {
                let mut graph = stream.capture(numbers, |capture, numbers| capture.fill(numbers, 7))?;
                // The second notes nothing.
                graph.launch()?;
                graph.launch()?;
                mem::forget(graph);
                assert_eq!((waits(default, here), waits(0, default)), (0, 0));
                Ok(())
            })?;
        }
        assert!(waits(default, here) > 0 && waits(0, default) > 0);
        assert_eq!(buffer.to_vec()?, [7; 5]);
        drop(buffer);
        // The graph alone, and not what it borrowed.
        assert_eq!((alive(), device.memory_info().buffers), (2, 0));
        Ok(())
    });
}

#[test]
fn errors_of_the_driver_are_returned() {
    if is_inner() {
        let run = || {
            let device = Device::gpu(0)?;
            let (buffer, event) = (device.exportable::<u32>(5)?, device.stream()?.record_exportable()?);
            // SAFETY: the event is kept.
            drop(unsafe { device.open_event(&event.ipc_handle()?)? });
            // SAFETY: the buffer is kept.
            unsafe { device.with_ipc_memory::<u32, _>(&buffer.ipc_handle()?, |numbers| numbers.to_vec()) }
        };
        let result = run();
        assert_eq!(alive(), 0);
        return println!("the result: {result:?}");
    }
    for function in [
        "cuMemAlloc_v2",
        "cuMemsetD8Async",
        "cuEventCreate",
        "cuIpcGetMemHandle",
        "cuIpcOpenMemHandle_v2",
        "cuIpcGetEventHandle",
        "cuIpcOpenEventHandle",
        "cuMemcpyDtoHAsync_v2",
    ] {
        let output = with_driver(&[("FAKE_FAULT", &format!("{function}@1=1"))]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let named = text.contains("Err(") && text.contains("CUDA_ERROR_INVALID_VALUE");
        assert!(
            output.status.success() && named,
            "{function}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
