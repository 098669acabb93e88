//! Launches in a graph: checked once, with arguments of their own.

use std::{panic::Location, ptr, sync::Arc};

use gpu_std::host::{KernelInfo, PackedArgs, PackedMemory};

use super::plan::Use;
use crate::{
    Error, LaunchConfig, RawArg, Result,
    backend::{Backend, BackendModule, OfDevice},
    launch::rules::{CheckedConfig, SharedMemory},
    loaded::{Entry, Loaded, LoadedImage},
    memory::AllocationId,
    prepared::{Lists, PreparedLaunch, Program, Request},
};

/// Code that is loaded as long as this is there.
pub(crate) enum Code<B: Backend> {
    Image(Arc<LoadedImage<B>>),
    Foreign(Arc<Loaded<B, String>>),
}

impl<B: Backend> Code<B> {
    pub(crate) fn module(&self) -> &B::Module {
        match self {
            Self::Image(image) => &image.code,
            Self::Foreign(foreign) => &foreign.code,
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        ptr::eq(self.module(), other.module())
    }
}

impl<B: Backend> Clone for Code<B> {
    fn clone(&self) -> Self {
        match self {
            Self::Image(image) => Self::Image(Arc::clone(image)),
            Self::Foreign(foreign) => Self::Foreign(Arc::clone(foreign)),
        }
    }
}

/// A kernel with its arguments.
pub(crate) enum Arguments {
    /// Of this program.
    Kernel(&'static KernelInfo, Box<PackedArgs>),
    /// Made elsewhere. The memory of the arguments is the graph's.
    Foreign { name: Box<str>, args: Box<[RawArg<'static>]>, shared_bytes: u32 },
}

impl Arguments {
    fn program(&self) -> Program<'_> {
        match self {
            Self::Kernel(info, args) => Program::Kernel(info, args),
            Self::Foreign { name, args, shared_bytes } => {
                Program::Foreign { name, args, shared_bytes: *shared_bytes }
            }
        }
    }

    /// For errors.
    pub(super) fn doing(&self) -> String {
        self.program().doing()
    }

    /// The same arguments, with the memory that `find` says in the place of each that has bytes.
    pub(super) fn moved(&self, mut find: impl FnMut(Use) -> Result<(*mut u8, AllocationId)>) -> Result<Self> {
        match self {
            Self::Kernel(info, args) => {
                let mut args = args.clone();
                args.move_memory(|slice, access| {
                    let (address, allocation) = find(Use::of_raw(slice, access))?;
                    Ok::<_, Error>((address, allocation.number()))
                })?;
                Ok(Self::Kernel(info, args))
            }
            Self::Foreign { name, args, shared_bytes } => {
                let args = args.iter().map(|arg| arg.moved(&mut find)).collect::<Result<_>>()?;
                Ok(Self::Foreign { name: name.clone(), args, shared_bytes: *shared_bytes })
            }
        }
    }

    /// The memory that the kernel uses.
    pub(super) fn uses(&self) -> impl Iterator<Item = Use> + '_ {
        let (packed, raw) = match self {
            Self::Kernel(_, args) => (args.memory(), &[][..]),
            Self::Foreign { args, .. } => (&[][..], &**args),
        };
        let of_slice = |memory: &PackedMemory| Use::of_raw(&memory.slice, memory.access);
        packed.iter().map(of_slice).chain(raw.iter().filter_map(RawArg::used))
    }
}

/// A checked launch.
pub(crate) struct Launch<B: Backend> {
    pub(super) code: Code<B>,
    entry: Entry<B>,
    arguments: Arguments,
    /// None if no thread runs.
    shape: Option<CheckedConfig>,
    shared: SharedMemory,
    /// The line of the program.
    pub(crate) at: &'static Location<'static>,
}

// SAFETY: the pointers among the arguments are to memory of a device, which the graph holds.
unsafe impl<B: Backend> Send for Launch<B> {}
// SAFETY: as above.
unsafe impl<B: Backend> Sync for Launch<B> {}

impl<B: Backend> Launch<B> {
    /// Checks a launch.
    ///
    /// # Safety
    /// The arguments are those of the kernel, which is the entry of the code: it packed them, if it is of this program. They are from borrows that last as
    /// long as this call.
    pub(super) unsafe fn new(
        code: Code<B>,
        entry: Entry<B>,
        config: LaunchConfig,
        arguments: Arguments,
        at: &'static Location<'static>,
    ) -> Result<Self> {
        let Entry { function, cooperative } = entry;
        let module = code.module();
        let (program, threads) = (arguments.program(), module.threads(&function));
        let request =
            Request { device: module.device(), program: &program, config: &config, threads, cooperative };
        let checked = |launch: &PreparedLaunch<'_, B>| {
            module.make_room(&function, launch)?;
            Ok((Some(launch.shape), launch.shared))
        };
        // SAFETY: as the caller promises.
        let checked = unsafe { PreparedLaunch::check(&request, &mut Lists::new(), checked)? };
        let (shape, shared) = checked.unwrap_or((None, SharedMemory::NONE));
        Ok(Self { code, entry, arguments, shape, shared, at })
    }

    /// The same launch with another configuration and other arguments.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub(super) unsafe fn with(
        &self,
        config: LaunchConfig,
        arguments: Arguments,
        at: &'static Location<'static>,
    ) -> Result<Self> {
        // SAFETY: as the caller promises.
        unsafe { Self::new(self.code.clone(), self.entry, config, arguments, at) }
    }

    /// The same launch with arguments that differ in the places of their memory, of which the kernel may require something.
    ///
    /// # Safety
    /// The kernel packed the arguments, if it is of this program.
    pub(super) unsafe fn with_arguments(&self, arguments: Arguments) -> Result<Self> {
        // SAFETY: as the caller promises.
        unsafe { arguments.program().check_requirements()? };
        let Self { entry, shape, shared, at, .. } = *self;
        Ok(Self { code: self.code.clone(), entry, arguments, shape, shared, at })
    }

    pub(super) fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    pub(crate) fn code(&self) -> &B::Module {
        self.code.module()
    }

    pub(crate) fn function(&self) -> &<B::Module as BackendModule>::Function {
        &self.entry.function
    }

    /// The launch, of whose memory the graph takes care; none if no thread runs.
    pub(crate) fn prepared<'l, 'a: 'l>(
        &'a self,
        lists: &'l mut Lists<'a, B>,
    ) -> Option<PreparedLaunch<'l, B>> {
        let (program, cooperative) = (self.arguments.program(), self.entry.cooperative);
        Some(PreparedLaunch::again(program, self.shape?, self.shared, cooperative, lists))
    }
}
