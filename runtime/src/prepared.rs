//! A launch that was checked once, as a value that a device runs: of kernels of this program and of foreign ones alike.

use std::mem::MaybeUninit;

use gpu_std::{
    Contract,
    host::{Access, KernelInfo, PackedArgs, PackedMemory, Unmet},
};
use smallvec::SmallVec;

use crate::{
    Device, Error, LaunchConfig, RawArg, Result,
    backend::{Backend, BlockThreads},
    launch::rules::{CheckedConfig, Rules, SharedMemory},
    memory::{Allocation, AllocationId, Uses},
};

/// What is launched, with its arguments.
// Passed by reference: copies are read before what was written is there.
pub(crate) enum Program<'a> {
    /// A kernel of this program.
    Kernel(&'static KernelInfo, &'a PackedArgs),
    /// A kernel made elsewhere, with so many bytes of dynamic shared memory.
    Foreign { name: &'a str, args: &'a [RawArg<'a>], shared_bytes: u32 },
}

impl<'a> Program<'a> {
    pub(crate) fn name(&self) -> &'a str {
        match *self {
            Self::Kernel(info, _) => info.name,
            Self::Foreign { name, .. } => name,
        }
    }

    /// For errors.
    pub(crate) fn doing(&self) -> String {
        format!("a launch of `{}`", self.name())
    }

    pub(crate) fn contract(&self) -> &'static Contract {
        match *self {
            Self::Kernel(info, _) => &info.contract,
            Self::Foreign { .. } => &Contract::NONE,
        }
    }

    fn check_tiles(&self, config: &LaunchConfig, rules: &Rules<'_>) -> Result<()> {
        match *self {
            Self::Kernel(_, args) => rules.check_tiles(config, args),
            Self::Foreign { .. } => Ok(()),
        }
    }

    /// Checks the conditions that the kernel requires of its arguments.
    ///
    /// # Safety
    /// The arguments were packed by the kernel.
    pub(crate) unsafe fn check_requirements(&self) -> Result<()> {
        #[cold]
        fn not_met(kernel: &str, unmet: Unmet) -> Error {
            Error::RequirementNotMet { kernel: kernel.to_owned(), unmet }
        }
        match *self {
            // SAFETY: as the caller promises.
            Self::Kernel(info, args) => match unsafe { (info.unmet)(args) } {
                Some(unmet) => Err(not_met(info.name, unmet)),
                None => Ok(()),
            },
            Self::Foreign { .. } => Ok(()),
        }
    }

    fn check_shared(&self, rules: &Rules<'_>) -> Result<SharedMemory> {
        match *self {
            Self::Kernel(info, args) => rules.check_shared(info.shared, info.dynamic_arrays, args),
            Self::Foreign { shared_bytes, .. } => {
                Ok(SharedMemory { dynamic_bytes: shared_bytes, ..SharedMemory::NONE })
            }
        }
    }

    /// Adds the memory that the launch uses on `device`.
    ///
    /// # Safety
    /// The arguments are from borrows that last as long as `'a`.
    unsafe fn add_memory<B: Backend>(&self, device: &'static B, uses: &mut Uses<'a, B>) -> Result<()> {
        let doing = || self.doing();
        match *self {
            Self::Kernel(_, args) => {
                let has_bytes =
                    |memory: &&PackedMemory| memory.slice.len != 0 && memory.slice.element_bytes != 0;
                let id = |memory: &PackedMemory| AllocationId::from_number(memory.slice.allocation);
                let used = args.memory().iter().filter(has_bytes).map(|memory| (id(memory), memory.access));
                // SAFETY: the buffers are borrowed that long, as the caller promises.
                unsafe { Allocation::add_uses(uses, used, device, &doing) }
            }
            Self::Foreign { args, .. } => {
                // SAFETY: as above.
                unsafe { Allocation::add_uses(uses, args.iter().filter_map(RawArg::memory), device, &doing) }
            }
        }
    }

    /// The values of all parameters in a row, each aligned as it needs, if they lie so.
    #[inline]
    fn packed(&self) -> Option<&'a [MaybeUninit<u8>]> {
        match *self {
            Self::Kernel(_, args) => Some(args.bytes()),
            Self::Foreign { .. } => None,
        }
    }

    /// Adds where the values of the parameters lie, in their order.
    fn add_parameters(&self, parameters: &mut Parameters) {
        match *self {
            Self::Kernel(_, args) => parameters.extend(args.pointers()),
            Self::Foreign { args, .. } => parameters.extend(args.iter().map(RawArg::pointer)),
        }
    }
}

/// A request to launch.
pub(crate) struct Request<'a, B: Backend> {
    pub(crate) device: &'static B,
    pub(crate) program: &'a Program<'a>,
    pub(crate) config: &'a LaunchConfig,
    pub(crate) threads: BlockThreads,
    /// Whether blocks of the grid wait for each other.
    pub(crate) cooperative: bool,
}

type Parameters = SmallVec<[*const u8; 24]>;

/// Where a prepared launch has its lists: on the stack of who launches, where nothing moves them.
pub(crate) struct Lists<'a, B: Backend> {
    memory: Uses<'a, B>,
    parameters: Parameters,
    /// Of a launch that was checked before.
    program: Option<Program<'a>>,
}

impl<B: Backend> Lists<'_, B> {
    pub(crate) fn new() -> Self {
        Self { memory: SmallVec::new(), parameters: SmallVec::new(), program: None }
    }
}

/// A checked launch of at least one thread.
pub(crate) struct PreparedLaunch<'a, B: Backend> {
    pub(crate) program: &'a Program<'a>,
    pub(crate) shape: CheckedConfig,
    pub(crate) shared: SharedMemory,
    pub(crate) cooperative: bool,
    /// The memory that it uses, all of it the device's.
    pub(crate) memory: &'a [(&'a B::Memory, Access)],
    /// Where the values of its parameters lie, if not as [`packed`](Self::packed).
    pub(crate) parameters: &'a [*const u8],
}

impl<'a, B: Backend> PreparedLaunch<'a, B> {
    /// Checks a launch, and passes it on if a thread runs; else returns `None`.
    ///
    /// # Safety
    /// The arguments were packed by the kernel, from borrows that last as long as `'b`.
    // To a function, because a launch that is returned is copied from one place to another.
    #[inline]
    pub(crate) unsafe fn check<'b: 'a, R>(
        request: &Request<'b, B>,
        lists: &'a mut Lists<'b, B>,
        launch: impl FnOnce(&Self) -> Result<R>,
    ) -> Result<Option<R>> {
        let Request { device, program, config, threads, cooperative } = *request;
        let rules = Rules {
            kernel: program.name(),
            contract: program.contract(),
            threads,
            limits: device.limits(),
            device: &Device::of(device),
        };
        program.check_tiles(config, &rules)?;
        let shape = config.check(&rules)?;
        // SAFETY: as the caller promises.
        unsafe { program.check_requirements()? };
        let shared = program.check_shared(&rules)?;
        let Lists { memory, parameters, .. } = lists;
        // SAFETY: as the caller promises.
        unsafe { program.add_memory(device, memory)? };
        let Some(shape) = shape else { return Ok(None) };
        if cooperative || program.packed().is_none() {
            program.add_parameters(parameters);
        }
        launch(&Self { program, shape, shared, cooperative, memory, parameters }).map(Some)
    }

    /// The values of all parameters in a row, in place of [`parameters`](Self::parameters).
    #[inline]
    pub(crate) fn packed(&self) -> Option<&'a [MaybeUninit<u8>]> {
        self.program.packed().filter(|_| self.parameters.is_empty())
    }

    /// A launch that was checked before, of whose memory others take care.
    pub(crate) fn again<'b: 'a>(
        program: Program<'b>,
        shape: CheckedConfig,
        shared: SharedMemory,
        cooperative: bool,
        lists: &'a mut Lists<'b, B>,
    ) -> Self {
        let Lists { parameters, program: place, .. } = lists;
        program.add_parameters(parameters);
        Self { program: place.insert(program), shape, shared, cooperative, memory: &[], parameters }
    }

    #[cold]
    pub(crate) fn shared_too_large(&self, device: &'static B, static_bytes: usize) -> Error {
        Error::SharedTooLarge {
            kernel: self.program.name().to_owned(),
            asked_bytes: static_bytes + self.shared.dynamic_bytes as usize,
            allowed_bytes: device.limits().max_shared_bytes_per_block,
            limited_by: Device::of(device).to_string(),
        }
    }
}
