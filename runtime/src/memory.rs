//! Allocations: the table that maps addresses to the allocations that contain them.
//!
//! A [`DeviceSlice`](crate::DeviceSlice) is an address and a length; its allocation is looked up here. One table serves all devices, because CUDA gives host and GPUs one address space ("Unified Virtual Address Space").

use std::{
    alloc::Layout,
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use gpu_std::host::Access;

use crate::{Device, Error, Result, cpu::CpuDevice, cuda, device::Backend};

/// Alignment of memory in bytes on every device: on a GPU guaranteed by the driver (CUDA C++ Programming Guide, "Device Memory
/// Accesses"), on the CPU so that code that relies on it works there too.
pub(crate) const ALIGN: usize = 256;

/// Memory of a device, freed on drop.
pub(crate) struct Allocation {
    pub(crate) address: usize,
    pub(crate) size_bytes: usize,
    pub(crate) owner: Owner,
}

pub(crate) enum Owner {
    Cpu(Layout),
    Cuda(cuda::Memory),
}

impl Allocation {
    pub(crate) fn device(&self) -> Device {
        let backend = match &self.owner {
            Owner::Cpu(_) => Backend::Cpu(CpuDevice::get()),
            Owner::Cuda(memory) => Backend::Cuda(memory.device()),
        };
        Device { backend }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match &mut self.owner {
            // SAFETY: the address came from the allocator with this layout, and this is the end of the only owner.
            Owner::Cpu(layout) => unsafe {
                std::alloc::dealloc(std::ptr::with_exposed_provenance_mut(self.address), *layout);
            },
            Owner::Cuda(memory) => memory.free(self.address),
        }
    }
}

/// All allocations, by address.
static ALLOCATIONS: RwLock<BTreeMap<usize, Arc<Allocation>>> = RwLock::new(BTreeMap::new());

/// An entry in the table of allocations. The memory is freed when the entry and the last use of it are gone.
pub(crate) struct Registered {
    pub(crate) address: usize,
}

impl Registered {
    pub(crate) fn new(allocation: Allocation) -> Self {
        let address = allocation.address;
        ALLOCATIONS.write().unwrap_or_else(PoisonError::into_inner).insert(address, Arc::new(allocation));
        Self { address }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // Remove it from the table before freeing: once freed, the address can belong to another allocation.
        let allocation = ALLOCATIONS.write().unwrap_or_else(PoisonError::into_inner).remove(&self.address);
        drop(allocation);
    }
}

/// The allocation that holds the byte at this address.
///
/// # Errors
/// If none does, which only `unsafe` code elsewhere can cause.
pub(crate) fn find(address: usize) -> Result<Arc<Allocation>> {
    let allocations = ALLOCATIONS.read().unwrap_or_else(PoisonError::into_inner);
    match allocations.range(..=address).next_back() {
        Some((_, allocation)) if address - allocation.address < allocation.size_bytes => {
            Ok(Arc::clone(allocation))
        }
        _ => Err(Error::WrongDevice {
            what: format!("the memory at {address:#x}"),
            doing: "its use".to_owned(),
            found: "no device".to_owned(),
            expected: "a device of this crate".to_owned(),
        }),
    }
}

/// The memory that a launch uses, kept alive until the launch is queued.
pub(crate) struct Uses(Vec<(Arc<Allocation>, Access)>);

impl Uses {
    /// Looks the addresses up.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for memory that is not of `device`.
    pub(crate) fn find(
        addresses: impl Iterator<Item = (usize, Access)>,
        device: &Device,
        doing: &dyn Fn() -> String,
    ) -> Result<Self> {
        let uses = addresses.map(|(address, access)| {
            let allocation = find(address)?;
            check_device(&allocation, device, doing)?;
            Ok((allocation, access))
        });
        uses.collect::<Result<_>>().map(Self)
    }

    /// The part of it that is GPU memory.
    pub(crate) fn on_gpu(&self) -> Vec<(&cuda::Memory, Access)> {
        self.0
            .iter()
            .filter_map(|(allocation, access)| match &allocation.owner {
                Owner::Cuda(memory) => Some((memory, *access)),
                Owner::Cpu(_) => None,
            })
            .collect()
    }
}

/// An error unless `allocation` belongs to `device`.
pub(crate) fn check_device(
    allocation: &Allocation,
    device: &Device,
    doing: &dyn Fn() -> String,
) -> Result<()> {
    let found = allocation.device();
    if found == *device {
        return Ok(());
    }
    Err(Error::WrongDevice {
        what: format!("a buffer of {} bytes", allocation.size_bytes),
        doing: doing(),
        found: found.to_string(),
        expected: device.to_string(),
    })
}
