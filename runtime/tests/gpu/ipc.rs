//! Memory and events of another process: of the test itself, started again.

use std::{env, path::Path, sync::PoisonError};

use gpukernel::{Device, IpcEventHandle, IpcMemoryHandle, Result};

use crate::{LEN, ONE_AT_A_TIME, ptx, slow_copy};

fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes<const N: usize>(variable: &str) -> [u8; N] {
    let text = env::var(variable).expect("the first process sets it");
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("it is a number"))
}

mod needs_a_gpu {
    use super::*;
    use crate::again::{again, is_inner, succeeded};

    /// Its memory has sevens, after some time; the second process waits for them, and writes nines over a half.
    fn first() -> Result<()> {
        let device = Device::gpu(0)?;
        // SAFETY: it is PTX, which the driver compiles and so checks.
        let module = unsafe { device.load_foreign(ptx::KERNELS.as_bytes())? };
        let sevens = device.filled(LEN, 7_u32)?;
        let stream = device.stream()?;
        let before = device.memory_info();
        let mut shared = device.exportable::<u32>(LEN)?;
        for _ in 0..20 {
            // `exportable` gives a buffer like others.
            slow_copy(&module, &stream, &sevens, &mut shared)?;
        }
        let event = stream.record_exportable()?;
        let (memory, done) = (text(&shared.ipc_handle()?.to_bytes()), text(&event.ipc_handle()?.to_bytes()));
        succeeded(&again(&[("SHARED", Path::new(&memory)), ("DONE", Path::new(&done))]));
        let found = shared.to_vec()?;
        assert!(found[..LEN / 2].iter().all(|&x| x == 9) && found[LEN / 2..].iter().all(|&x| x == 7));
        drop(shared);
        assert_eq!(device.memory_info().buffers, before.buffers);
        Ok(())
    }

    fn second() -> Result<()> {
        let device = Device::gpu(0)?;
        let (stream, nines) = (device.stream()?, device.filled(LEN / 2, 9_u32)?);
        // SAFETY: the first process keeps the event until this one has ended.
        let done = unsafe { device.open_event(&IpcEventHandle::from_bytes(bytes("DONE")))? };
        let handle = IpcMemoryHandle::from_bytes(bytes("SHARED"));
        assert_eq!(handle.size_bytes(), 4 * LEN as u64);
        // SAFETY: the first process keeps the buffer, and does not use it after the event and before this process has ended.
        let found = unsafe {
            device.with_ipc_memory::<u32, _>(&handle, |shared| {
                stream.wait(&done)?;
                let mut found = vec![0; LEN];
                stream.copy_to_host(shared, &mut found)?;
                // Leaked: its work is waited for all the same.
                let memory = (&nines, &mut shared[..LEN / 2]);
                let mut graph =
                    stream.capture(memory, |capture, (nines, shared)| capture.copy(nines, shared))?;
                graph.launch()?;
                std::mem::forget(graph);
                Ok(found)
            })?
        };
        assert!(found.iter().all(|&x| x == 7));
        Ok(())
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn another_process_opens_memory_and_waits_for_an_event() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let result = if is_inner() { second() } else { first() };
        result.unwrap_or_else(|error| panic!("{error}"));
    }
}
