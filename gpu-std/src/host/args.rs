//! The arguments of a launch, packed once for the driver and for the CPU device.

use core::{alloc::Layout, mem::MaybeUninit, ptr};
use std::{boxed::Box, vec::Vec};

use super::{Access, KernelInfo, RawSlice};
use crate::{
    DeviceCopy,
    shared::{DynamicArray, SHARED_ALIGN, layout::shared_layout},
};

/// What packed arguments hold without an allocation: twelve slices of two values each, and 256 bytes.
const INLINE_SLICES: usize = 12;
const INLINE_VALUES: usize = 24;
const INLINE_UNITS: usize = 16;

/// The arguments of one launch as the entry takes them: one value per head and tail that is not empty.
///
/// ```
/// let mut args = gpu_std::host::PackedArgs::new();
/// args.push(2.0_f32);
/// args.push(());
/// args.push(7_u64);
/// assert_eq!(args.layouts().map(|layout| layout.size()).collect::<Vec<_>>(), [4, 8]);
/// ```
#[derive(Clone, Debug)]
// What every launch sets lies in front of what has no values yet. Between them the compiler would set that, too.
#[repr(C)]
pub struct PackedArgs {
    used_bytes: usize,
    values_len: usize,
    memory_len: usize,
    /// All values and memory, if there are more than lie in here.
    spilled: Option<Box<Spilled>>,
    /// The kernel's own shared arrays; none if they are larger than the address space.
    fixed: Option<Layout>,
    /// The shared arrays whose length the launch gives; none if they are larger than can be addressed.
    dynamic: Option<Layout>,
    /// Whether there are such arrays.
    has_dynamic: bool,
    /// The number of elements of a shared array that is more than kernels count.
    too_long: Option<usize>,
    /// The rows and columns of the tiles that each warp owns, if a parameter is an output in such tiles.
    warp_tiles: Option<[usize; 2]>,
    values: [MaybeUninit<Value>; INLINE_VALUES],
    memory: [MaybeUninit<PackedMemory>; INLINE_SLICES],
    /// In 16-byte units, so that a value of any alignment up to 16 can lie in it; maybe uninitialised, because values have
    /// padding and pointers are more than their bytes.
    inline: [MaybeUninit<u128>; INLINE_UNITS],
}

/// The arguments of a launch that has many.
#[derive(Clone, Debug)]
struct Spilled {
    storage: Vec<MaybeUninit<u128>>,
    values: Vec<Value>,
    memory: Vec<PackedMemory>,
}

/// Memory that a launch uses.
#[derive(Clone, Copy, Debug)]
pub struct PackedMemory {
    /// Where it lies.
    pub slice: RawSlice,
    /// What the launch does to it.
    pub access: Access,
    /// The number of the element whose address is passed.
    origin: u32,
    /// Where that lies among the values.
    place: usize,
}

impl PackedMemory {
    /// What is passed.
    fn address(&self) -> *mut u8 {
        // There are as many elements, or it is 0.
        self.slice.address.wrapping_add(self.origin as usize * self.slice.element_bytes)
    }
}

/// Where a value lies, and how large it is. Small: every launch writes and reads some.
#[derive(Clone, Copy, Debug)]
struct Value {
    offset: u32,
    bytes: u32,
    align: u32,
}

impl Value {
    fn offset(self) -> usize {
        self.offset as usize
    }
}

impl Default for PackedArgs {
    fn default() -> Self {
        Self::new()
    }
}

/// Values lie at multiples of this, or of their own alignment if that is less.
const MAX_ALIGN: usize = 16;

/// The size of a value, of which a GPU's kernel takes at most 32 KiB.
const MAX_BYTES: usize = 1 << 20;

impl PackedArgs {
    /// No arguments yet.
    pub fn new() -> Self {
        Self::with_shared(&[], false)
    }

    /// No arguments yet, for a launch of a kernel.
    #[inline(always)]
    pub fn of(kernel: &KernelInfo) -> Self {
        Self::with_shared(kernel.shared, kernel.dynamic_arrays)
    }

    /// No arguments yet, for a kernel with these shared arrays, which lie in dynamic shared memory on a GPU or not.
    #[inline(always)]
    pub fn with_shared(arrays: &[Layout], dynamic_arrays: bool) -> Self {
        let empty = Some(Layout::new::<()>());
        let fixed = if arrays.is_empty() { empty } else { shared_layout(arrays).ok() };
        Self {
            used_bytes: 0,
            values_len: 0,
            memory_len: 0,
            spilled: None,
            fixed,
            // They come first there.
            dynamic: if dynamic_arrays { fixed } else { empty },
            has_dynamic: false,
            too_long: None,
            warp_tiles: None,
            values: [MaybeUninit::uninit(); INLINE_VALUES],
            memory: [MaybeUninit::uninit(); INLINE_SLICES],
            inline: [MaybeUninit::uninit(); INLINE_UNITS],
        }
    }

    /// Adds a value. Empty ones leave no trace: the entry has no parameter for them.
    ///
    /// That `T` is aligned to at most 16 bytes, as parameters of CUDA kernels are, is checked at compile time:
    ///
    /// ```compile_fail
    /// use gpu_std::DeviceCopy;
    ///
    /// #[derive(Clone, Copy, DeviceCopy)]
    /// #[repr(C, align(32))]
    /// struct Wide([f64; 4]);
    ///
    /// gpu_std::host::PackedArgs::new().push(Wide([0.0; 4]));
    /// ```
    pub fn push<T: DeviceCopy>(&mut self, value: T) {
        self.write(value);
    }

    #[inline]
    fn write<T>(&mut self, value: T) {
        const {
            assert!(
                align_of::<T>() <= MAX_ALIGN,
                "a kernel takes values that are aligned to at most 16 bytes: take a slice of them"
            );
            assert!(
                size_of::<T>() <= MAX_BYTES,
                "a kernel takes values of at most a megabyte: take a slice of them"
            );
        }
        if size_of::<T>() == 0 {
            return;
        }
        let place = self.make_room(size_of::<T>(), align_of::<T>(), 1, 0);
        self.note_value(place, size_of::<T>(), align_of::<T>());
        // SAFETY: `make_room` made room for a `T` there.
        unsafe { self.storage_mut().add(place).cast::<T>().write(value) };
    }

    /// Makes room behind the others for values of so many bytes and one alignment, and for so many notes of values and of memory. Returns where the values lie:
    /// there are so many bytes, aligned because the storage is to 16 and the offset to `align`.
    #[inline(always)]
    fn make_room(&mut self, bytes: usize, align: usize, values: usize, memory: usize) -> usize {
        // An alignment is a power of two, which `next_multiple_of` does not know.
        let place = (self.used_bytes + align - 1) & !(align - 1);
        self.used_bytes = place + bytes;
        let fits = self.used_bytes <= INLINE_UNITS * MAX_ALIGN
            && self.values_len + values <= INLINE_VALUES
            && self.memory_len + memory <= INLINE_SLICES;
        if !fits || self.spilled.is_some() {
            self.spill();
        }
        place
    }

    /// Moves everything out of here, if it is not yet, and makes room there for the bytes that are used.
    #[cold]
    fn spill(&mut self) {
        if self.spilled.is_none() {
            let (storage, values, memory) =
                (self.inline.to_vec(), self.values().to_vec(), self.memory().to_vec());
            self.spilled = Some(Box::new(Spilled { storage, values, memory }));
        }
        let units = self.used_bytes.div_ceil(MAX_ALIGN);
        if let Some(spilled) = &mut self.spilled {
            let units = units.max(spilled.storage.len());
            spilled.storage.resize(units, MaybeUninit::uninit());
        }
    }

    /// Notes a value, for which `make_room` made room.
    #[inline(always)]
    fn note_value(&mut self, offset: usize, bytes: usize, align: usize) {
        // A kernel has at most some hundred parameters, each of at most `MAX_BYTES`.
        let value = Value { offset: offset as u32, bytes: bytes as u32, align: align as u32 };
        match &mut self.spilled {
            None => {
                self.values[self.values_len].write(value);
            }
            Some(spilled) => spilled.values.push(value),
        }
        self.values_len += 1;
    }

    /// Notes memory, for which `make_room` made room.
    #[inline(always)]
    fn note_memory(&mut self, memory: PackedMemory) {
        match &mut self.spilled {
            None => {
                self.memory[self.memory_len].write(memory);
            }
            Some(spilled) => spilled.memory.push(memory),
        }
        self.memory_len += 1;
    }

    #[inline]
    fn storage(&self) -> *const u8 {
        match &self.spilled {
            None => self.inline.as_ptr().cast(),
            Some(spilled) => spilled.storage.as_ptr().cast(),
        }
    }

    #[inline]
    fn storage_mut(&mut self) -> *mut u8 {
        match &mut self.spilled {
            None => self.inline.as_mut_ptr().cast(),
            Some(spilled) => spilled.storage.as_mut_ptr().cast(),
        }
    }

    #[inline]
    fn values(&self) -> &[Value] {
        match &self.spilled {
            // SAFETY: so many were noted.
            None => unsafe { self.values[..self.values_len].assume_init_ref() },
            Some(spilled) => &spilled.values,
        }
    }

    fn memory_mut(&mut self) -> &mut [PackedMemory] {
        match &mut self.spilled {
            // SAFETY: as above.
            None => unsafe { self.memory[..self.memory_len].assume_init_mut() },
            Some(spilled) => &mut spilled.memory,
        }
    }

    fn truncate_values(&mut self, len: usize) {
        self.values_len = len;
        if let Some(spilled) = &mut self.spilled {
            spilled.values.truncate(len);
        }
    }

    /// Adds two values that are made of those which `pack` adds, in place of them: what several parameters in one are passed as. `parts` tells
    /// where the heads of the parameters lie in the first value.
    ///
    /// # Safety
    /// `join` reads what `pack` writes. Neither value has anything to drop. `parts` has all parameters, in the order of `pack`.
    #[doc(hidden)]
    pub unsafe fn push_joined<H, T, const N: usize>(
        &mut self,
        pack: impl FnOnce(&mut Self),
        join: impl FnOnce(&mut ArgReader<'_>) -> (H, T),
        parts: impl FnOnce(&H) -> [JoinedPart; N],
    ) {
        let (values, used_bytes, memory) = (self.values_len, self.used_bytes, self.memory_len);
        pack(self);
        let (head, tail) = join(&mut ArgReader { args: self, next: values });
        let parts = parts(&head);
        let start = ptr::from_ref(&head).addr();
        // From here on relative to the head of all.
        let (mut next, mut moved) = (values, memory);
        for JoinedPart { address, head_bytes, tail_bytes } in parts {
            if head_bytes > 0 {
                let from = self.values()[next].offset();
                let is_inside = |place: &&mut usize| (from..from + head_bytes).contains(&**place);
                while let Some(place) =
                    self.memory_mut().get_mut(moved).map(|memory| &mut memory.place).filter(is_inside)
                {
                    *place = *place - from + (address - start);
                    moved += 1;
                }
            }
            next += usize::from(head_bytes > 0) + usize::from(tail_bytes > 0);
        }
        debug_assert_eq!(moved, self.memory_len, "an address is not in the head of a part");
        self.truncate_values(values);
        self.used_bytes = used_bytes;
        self.write(head);
        if let Some(&head) = self.values().get(values) {
            self.memory_mut()[memory..].iter_mut().for_each(|memory| memory.place += head.offset());
        }
        self.write(tail);
    }

    /// Adds a shared array of `len` elements, by its layout; none is one that is larger than the address space.
    pub(crate) fn push_shared(&mut self, array: Option<Layout>, len: usize) {
        self.has_dynamic = true;
        let place = |start: Option<Layout>, array: Layout| start?.extend(array).ok();
        let host = array.and_then(|array| place(self.shared_on_host(), array));
        let device = array.and_then(|array| place(self.dynamic, array));
        // A launch that asks for more shared memory or elements than 32 bits count is refused before the place is used. Elements
        // without bytes need no memory, so that only their number tells.
        if len > u32::MAX as usize {
            self.too_long = self.too_long.max(Some(len));
        }
        let offset = |placed: &Option<(Layout, usize)>| placed.map_or(0, |(_, offset)| offset as u32);
        self.write(DynamicArray {
            device_offset: offset(&device),
            host_offset: offset(&host),
            len: len as u32,
        });
        self.dynamic = device.map(|(layout, _)| layout);
    }

    /// The dynamic shared memory that a block needs on a GPU; none if it is larger than the address space.
    pub fn dynamic_shared(&self) -> Option<Layout> {
        self.dynamic
    }

    /// Whether no array of the launch's own length was added, so that the kernel's are all.
    #[inline]
    pub fn has_no_shared(&self) -> bool {
        !self.has_dynamic
    }

    /// All shared memory that a block needs on the CPU; none if it is larger than the address space.
    pub fn shared_on_host(&self) -> Option<Layout> {
        let dynamic = self.dynamic?;
        // The place of the dynamic arrays among themselves depends on where they start, if they are aligned to different bytes:
        // they start where the largest alignment allows.
        let (layout, _) = self.fixed?.align_to(SHARED_ALIGN).ok()?.pad_to_align().extend(dynamic).ok()?;
        Some(layout)
    }

    /// The number of elements of a shared array that is more than `u32::MAX`, which is what kernels count; the launch must be refused.
    pub fn too_long_shared(&self) -> Option<usize> {
        self.too_long
    }

    /// Notes that the kernel writes a matrix in tiles of so many rows and columns, one for each warp.
    pub(crate) fn note_warp_tiles(&mut self, extents: [usize; 2]) {
        self.warp_tiles = Some(extents);
    }

    /// The rows and columns of the tiles of which each warp writes one; none if the kernel has no output of that kind.
    pub fn warp_tiles(&self) -> Option<[usize; 2]> {
        self.warp_tiles
    }

    /// Adds the address of memory, and notes what the launch does to it.
    #[inline]
    pub fn push_memory(&mut self, slice: RawSlice, access: Access) {
        self.push_memory_at(slice, 0, access);
    }

    /// The same of the element of this number, one of the slice or 0.
    #[inline]
    pub(crate) fn push_memory_at(&mut self, slice: RawSlice, origin: u32, access: Access) {
        const BYTES: usize = size_of::<*mut u8>();
        let place = self.make_room(BYTES, BYTES, 1, 1);
        self.note_value(place, BYTES, BYTES);
        let memory = PackedMemory { slice, access, origin, place };
        self.note_memory(memory);
        // SAFETY: there is room for an address.
        unsafe { self.storage_mut().add(place).cast::<*mut u8>().write(memory.address()) };
    }

    /// Adds a slice: the address of its memory, of which it notes what the launch does to it, and its length.
    #[inline(always)]
    pub fn push_slice(&mut self, slice: RawSlice, access: Access) {
        let RawSlice { address, len, element_bytes, allocation } = slice;
        self.push_parts(address, len, element_bytes, allocation, access);
    }

    /// The same. One function for all parameters that are slices, so that a launch has less code to fetch; and their parts in registers, because who writes
    /// numbers to memory and reads two at once waits until they are there.
    #[inline(never)]
    fn push_parts(
        &mut self,
        address: *mut u8,
        len: usize,
        element_bytes: usize,
        allocation: u32,
        access: Access,
    ) {
        const BYTES: usize = size_of::<usize>();
        let place = self.make_room(2 * BYTES, BYTES, 2, 1);
        self.note_value(place, BYTES, BYTES);
        self.note_value(place + BYTES, BYTES, BYTES);
        let slice = RawSlice { address, len, element_bytes, allocation };
        self.note_memory(PackedMemory { slice, access, origin: 0, place });
        // SAFETY: there is room for both.
        unsafe {
            let start = self.storage_mut().add(place);
            start.cast::<*mut u8>().write(address);
            start.add(BYTES).cast::<usize>().write(len);
        }
    }

    /// Puts other memory, of the same length, in the place of each that has bytes: the address and the number of the allocation that `find` returns.
    ///
    /// # Errors
    /// What `find` returns; some memory may be another by then.
    #[doc(hidden)]
    pub fn move_memory<E>(
        &mut self,
        mut find: impl FnMut(&RawSlice, Access) -> Result<(*mut u8, u32), E>,
    ) -> Result<(), E> {
        let (storage, memory): (*mut u8, _) = match &mut self.spilled {
            // SAFETY: so many were noted.
            None => unsafe {
                (self.inline.as_mut_ptr().cast(), self.memory[..self.memory_len].assume_init_mut())
            },
            Some(spilled) => (spilled.storage.as_mut_ptr().cast(), &mut *spilled.memory),
        };
        for memory in memory {
            let PackedMemory { slice, access, place, .. } = memory;
            if slice.len != 0 && slice.element_bytes != 0 {
                (slice.address, slice.allocation) = find(slice, *access)?;
                // SAFETY: `push_memory` wrote an address there, which `push_joined` may have moved, but to a place of the storage.
                unsafe {
                    let place = storage.add(*place);
                    place.cast::<*mut u8>().write_unaligned(memory.address());
                }
            }
        }
        Ok(())
    }

    /// The memory that the launch uses.
    #[inline]
    pub fn memory(&self) -> &[PackedMemory] {
        match &self.spilled {
            // SAFETY: so many were noted.
            None => unsafe { self.memory[..self.memory_len].assume_init_ref() },
            Some(spilled) => &spilled.memory,
        }
    }

    /// The size and alignment of each value.
    pub fn layouts(&self) -> impl ExactSizeIterator<Item = Layout> + '_ {
        let layout = |value: &Value| Layout::from_size_align(value.bytes as usize, value.align as usize);
        // Each was that of a type.
        self.values().iter().map(move |value| layout(value).unwrap_or(Layout::new::<()>()))
    }

    /// Where each value lies, in the order of the entry's parameters: what the driver's launch call takes.
    pub fn pointers(&self) -> impl ExactSizeIterator<Item = *const u8> + '_ {
        let start = self.storage();
        // SAFETY: the offset is inside the storage.
        self.values().iter().map(move |value| unsafe { start.add(value.offset()) })
    }

    /// All values, laid out as the fields of a C structure are; what is between them is not initialised.
    #[inline]
    pub fn bytes(&self) -> &[MaybeUninit<u8>] {
        // SAFETY: the storage has that many bytes, or it could not be written there.
        unsafe { core::slice::from_raw_parts(self.storage().cast(), self.used_bytes) }
    }

    /// Reads the values back in the order they were pushed.
    pub fn reader(&self) -> ArgReader<'_> {
        ArgReader { args: self, next: 0 }
    }
}

/// A parameter among several that are passed as one.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct JoinedPart {
    /// The address of its head.
    address: usize,
    head_bytes: usize,
    tail_bytes: usize,
}

impl JoinedPart {
    /// That whose head lies there, with a tail of type `T`.
    pub fn of<H, T>(head: &H) -> Self {
        Self { address: ptr::from_ref(head).addr(), head_bytes: size_of::<H>(), tail_bytes: size_of::<T>() }
    }
}

/// Reads packed arguments back, for the CPU device.
#[derive(Debug)]
pub struct ArgReader<'a> {
    args: &'a PackedArgs,
    next: usize,
}

impl ArgReader<'_> {
    /// The next value, as the type that it was pushed as or that the entry reads it as.
    ///
    /// # Safety
    /// A `T`, or a type of the same layout for which the bytes are valid, is next.
    #[inline]
    pub unsafe fn read<T>(&mut self) -> T {
        if size_of::<T>() == 0 {
            // SAFETY: a type without size has no bytes to read; the caller promises that one may be made.
            return unsafe { core::ptr::NonNull::<T>::dangling().read() };
        }
        let value = self.args.values()[self.next];
        self.next += 1;
        // SAFETY: the caller promises that the bytes at the offset, written by `push`, are a `T`.
        unsafe { self.args.storage().add(value.offset()).cast::<T>().read() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many there are, wherever they lie.
    #[test]
    fn arguments_are_read_as_they_were_pushed() {
        for count in [0, 1, 4, 7, 8, 11, 12, 13, 23, 24, 25, 100] {
            let mut args = PackedArgs::new();
            let slice = |i: usize| RawSlice {
                address: ptr::without_provenance_mut(8 * i),
                len: i,
                element_bytes: 8,
                allocation: i as u32,
            };
            for i in 0..count {
                args.push(i as u8);
                match i % 3 {
                    0 => args.push_slice(slice(i), Access::Read),
                    1 => args.push_memory_at(slice(i), i as u32 / 2, Access::Write),
                    _ => args.push([i as u128; 2]),
                }
            }
            let mut args = args.clone();
            assert_eq!(args.memory().len(), (0..count).filter(|i| i % 3 != 2).count());
            let known =
                args.memory().iter().all(|memory| memory.slice.len == memory.slice.allocation as usize);
            assert!(known, "{count}");
            assert_eq!(args.layouts().len(), args.pointers().len());
            assert!(args.pointers().zip(args.layouts()).all(|(at, layout)| at.addr() % layout.align() == 0));
            let moved =
                |slice: &RawSlice, _| Ok::<_, ()>((slice.address.wrapping_add(1 << 20), slice.allocation));
            args.move_memory(moved).expect("it cannot fail");
            let mut reader = args.reader();
            for i in 0..count {
                // Memory without elements stays where it is.
                let address = if i == 0 { 0 } else { 8 * i + (1 << 20) };
                // SAFETY: these were pushed in this order.
                unsafe {
                    assert_eq!(reader.read::<u8>(), i as u8);
                    match i % 3 {
                        0 => assert_eq!((reader.read::<usize>(), reader.read::<usize>()), (address, i)),
                        1 => assert_eq!(reader.read::<usize>(), address + 8 * (i / 2)),
                        _ => assert_eq!(reader.read::<[u128; 2]>(), [i as u128; 2]),
                    }
                }
            }
        }
    }
}
