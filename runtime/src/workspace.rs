//! Workspaces: memory that kernels find zeroed, for the counters and partial results of one call, without an allocation and a fill for each.
//!
//! A call gets bytes that no call had since they were zeroed. So none finds what a kernel that panicked left behind.

use std::sync::{Mutex, PoisonError};

use bytemuck::Pod;
use gpu_std::DeviceCopy;

use crate::{Buffer, DeviceSlice, Module, Result, Stream, replay};

/// The bytes of a workspace.
const BYTES: usize = 1 << 20;

/// What one call gets of it. For more, memory is allocated, which takes less time than work on that much.
const MOST_BYTES: usize = BYTES / 4;

/// The streams for which a module keeps one: those that used theirs last.
const KEPT: usize = 4;

/// The alignment of what a call gets, a line of a GPU's cache.
const ALIGN: usize = 128;

/// The workspaces of a module.
#[derive(Default)]
pub(crate) struct Workspaces(Mutex<Vec<Workspace>>);

/// Memory of a stream's, of which the first bytes have been used, and the others are zeroed.
struct Workspace {
    stream: Stream,
    memory: Buffer<u8>,
    used: usize,
}

impl Workspaces {
    /// Takes that of a stream, so that no other thread uses it meanwhile.
    fn take(&self, stream: &Stream) -> Option<Workspace> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|workspace| workspace.stream.is_same(stream))?;
        Some(kept.remove(place))
    }

    /// Keeps it for the next call.
    fn put(&self, workspace: Workspace) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(workspace);
        let oldest = (kept.len() > KEPT).then(|| kept.remove(0));
        drop(kept);
        // Not with the lock: an allocator of the user's may get it.
        drop(oldest);
    }
}

impl Workspace {
    /// Zeroes the memory, after what was queued, if fewer bytes are left.
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        if self.memory.len() - self.used < bytes {
            self.stream.fill(&mut self.memory, 0)?;
            self.used = 0;
        }
        Ok(())
    }

    /// Takes bytes that are left.
    fn take(&mut self, bytes: usize) -> &mut DeviceSlice<u8> {
        let start = self.used;
        self.used += bytes;
        &mut self.memory[start..self.used]
    }
}

impl Module {
    /// Calls `work` with memory for so many elements, which are zeros when what `work` queues on the stream runs. It is used by nothing else, and its
    /// contents are lost afterwards.
    ///
    /// # Errors
    /// As [`Stream::zeroed`].
    #[doc(hidden)]
    pub fn __with_zeros<A, B, R>(
        &self,
        stream: &Stream,
        lens: [usize; 2],
        work: impl FnOnce(&mut DeviceSlice<A>, &mut DeviceSlice<B>) -> R,
    ) -> Result<R>
    where
        A: DeviceCopy + Pod,
        B: DeviceCopy + Pod,
    {
        // What launches of a graph find in the memory are no zeros.
        stream.not_captured("an allocation")?;
        replay::refuse("an allocation")?;
        let padded = |len: usize, size: usize| len.checked_mul(size)?.checked_next_multiple_of(ALIGN);
        let bytes = padded(lens[0], size_of::<A>()).zip(padded(lens[1], size_of::<B>()));
        let total = bytes.and_then(|(first, second)| first.checked_add(second));
        let (Some((first, _)), Some(total @ ..=MOST_BYTES)) = (bytes, total) else {
            return Ok(work(&mut *stream.zeroed(lens[0])?, &mut *stream.zeroed(lens[1])?));
        };
        let mut workspace = match self.workspaces().take(stream) {
            Some(workspace) => workspace,
            None => Workspace { stream: stream.clone(), memory: stream.zeroed(BYTES)?, used: 0 },
        };
        workspace.reserve(total)?;
        let (a, b) = workspace.take(total).split_at_mut(first);
        let (a, b) = (&mut a[..lens[0] * size_of::<A>()], &mut b[..lens[1] * size_of::<B>()]);
        let result = work(a.cast_mut()?, b.cast_mut()?);
        self.workspaces().put(workspace);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use gpukernel_image::{ImageWriter, Manifest};

    use super::*;
    use crate::{Device, Image};

    fn module(device: &Device) -> Module {
        let mut manifest = Manifest::new("workspaces");
        manifest.no_code = Some("this is a test".to_owned());
        // SAFETY: it holds no code.
        let image = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
        device.load(&image).unwrap()
    }

    /// Looks for zeros, and leaves others behind.
    fn use_zeros(module: &Module, stream: &Stream, lens: [usize; 2]) {
        let used =
            module.__with_zeros(stream, lens, |a: &mut DeviceSlice<[u64; 4]>, b: &mut DeviceSlice<u32>| {
                assert_eq!([a.len(), b.len()], lens);
                let (mut first, mut second) = (vec![[1; 4]; lens[0]], vec![1; lens[1]]);
                stream.copy_to_host(a, &mut first)?;
                stream.copy_to_host(b, &mut second)?;
                assert_eq!((first, second), (vec![[0; 4]; lens[0]], vec![0; lens[1]]));
                stream.copy_to_device(&vec![[7; 4]; lens[0]], a)?;
                stream.copy_to_device(&vec![7; lens[1]], b)
            });
        used.unwrap().unwrap();
    }

    #[test]
    fn each_call_finds_zeros() {
        let device = Device::cpu();
        let module = module(&device);
        let streams = [device.default_stream(), device.stream().unwrap()];
        for round in 0..300 {
            use_zeros(&module, &streams[round % 2], [round * 7, 1]);
        }
        // More than a workspace has, nothing, and all that a call gets of one.
        for lens in
            [[BYTES / 32 + 1, 3], [0, 0], [0, BYTES], [MOST_BYTES / 32, 0], [MOST_BYTES / 64, MOST_BYTES / 8]]
        {
            use_zeros(&module, &streams[0], lens);
        }
    }

    #[test]
    fn calls_in_calls_and_on_other_threads_have_memory_of_their_own() {
        let device = Device::cpu();
        let module = module(&device);
        let stream = device.default_stream();
        use_zeros(&module, &stream, [1, 1]);
        let inside =
            module.__with_zeros(&stream, [4, 4], |_: &mut DeviceSlice<u64>, _: &mut DeviceSlice<u32>| {
                std::thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| (0..100).for_each(|len| use_zeros(&module, &stream, [len, 1])));
                    }
                });
            });
        inside.unwrap();
        use_zeros(&module, &stream, [1, 1]);
    }

    #[test]
    fn few_are_kept() {
        let device = Device::cpu();
        let module = module(&device);
        for _ in 0..3 * KEPT {
            use_zeros(&module, &device.stream().unwrap(), [1, 1]);
        }
        assert_eq!(module.workspaces().0.lock().unwrap().len(), KEPT);
    }

    #[test]
    fn a_call_that_panics_keeps_none() {
        let device = Device::cpu();
        let module = module(&device);
        let stream = device.default_stream();
        let panics = std::panic::AssertUnwindSafe(|| {
            module.__with_zeros(&stream, [1, 1], |_: &mut DeviceSlice<u64>, _: &mut DeviceSlice<u64>| {
                panic!("as meant")
            })
        });
        assert!(std::panic::catch_unwind(panics).is_err());
        use_zeros(&module, &stream, [1, 1]);
    }

    #[test]
    fn lengths_that_overflow_are_out_of_memory() {
        let device = Device::cpu();
        let module = module(&device);
        let stream = device.default_stream();
        for lens in [[usize::MAX, 0], [usize::MAX / 8, 1], [1, usize::MAX / 16]] {
            let result =
                module.__with_zeros(&stream, lens, |_: &mut DeviceSlice<u64>, _: &mut DeviceSlice<u64>| ());
            assert!(matches!(result, Err(crate::Error::OutOfMemory { .. })), "{lens:?} {result:?}");
        }
    }

    #[test]
    fn a_graph_cannot_use_one() {
        let device = Device::cpu();
        let module = module(&device);
        let stream = device.stream().unwrap();
        let graph = stream.capture((), |capture, ()| {
            module.__with_zeros(capture, [1, 1], |_: &mut DeviceSlice<u64>, _: &mut DeviceSlice<u64>| ())
        });
        assert!(matches!(graph.err(), Some(crate::Error::NotCapturable { .. })));
    }
}
