//! Arrays given to other libraries, which use them as long as they like: DLPack tensors and array interfaces.

use std::{
    ffi::c_void,
    ptr::NonNull,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use dlpark::{
    Managed, ManagedTensorBase,
    ffi::{DLManagedTensor, DLManagedTensorVersioned},
    legacy, metadata, versioned,
};
use gpukernel::{CurrentContext, Device, RawArg};
use ndarray::{Dimension, IxDyn};

use crate::{
    Array, ArrayInterface, Element, ElementType, Result,
    dlpack::{error, to_dlpack_device},
};

/// On which stream a consumer uses an exported array: the argument `stream` of Python's `__dlpack__`. On the CPU device each of them waits for the work that uses the array.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::{Array, ConsumerStream};
///
/// let tensor = Array::from_vec(&Device::cpu(), [1.0, 2.0])?.into_dlpack(ConsumerStream::legacy_default())?;
/// assert_eq!(tensor.validate().expect("it is one").shape(), [2]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ConsumerStream(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Wait,
    Unordered,
    Raw(Option<NonNull<c_void>>),
}

// SAFETY: streams are handles that any thread may use.
unsafe impl Send for ConsumerStream {}
// SAFETY: as above.
unsafe impl Sync for ConsumerStream {}

impl ConsumerStream {
    /// Any: the export waits for the work that uses the array.
    ///
    /// ```
    /// let _ = gpukernel_array::ConsumerStream::wait();
    /// ```
    pub fn wait() -> Self {
        Self(Kind::Wait)
    }

    /// The legacy default stream, which is made to wait (`None` or 1 in Python).
    ///
    /// ```
    /// let _ = gpukernel_array::ConsumerStream::legacy_default();
    /// ```
    #[doc(alias = "cudaStreamLegacy")]
    pub fn legacy_default() -> Self {
        Self(Kind::Raw(None))
    }

    /// One that waits for the array's work by itself, or is waited for (-1 in Python).
    ///
    /// ```
    /// let _ = gpukernel_array::ConsumerStream::unordered();
    /// ```
    pub fn unordered() -> Self {
        Self(Kind::Unordered)
    }

    /// A stream by its handle (`CUstream`, `cudaStream_t`), which is made to wait; null is the legacy default stream.
    ///
    /// ```no_run
    /// # let theirs: *mut std::ffi::c_void = std::ptr::null_mut();
    /// // SAFETY: the library made it in the primary context of the GPU, and keeps it.
    /// let _ = unsafe { gpukernel_array::ConsumerStream::from_raw(theirs) };
    /// ```
    ///
    /// # Safety
    /// It is a stream of the primary context of the array's GPU, and is there until the array was exported.
    pub unsafe fn from_raw(stream: *mut c_void) -> Self {
        Self(Kind::Raw(NonNull::new(stream)))
    }

    /// Whether it is the legacy default stream, which is always there.
    fn is_legacy(self) -> bool {
        // `CU_STREAM_LEGACY` is 1.
        matches!(self.0, Kind::Raw(raw) if raw.is_none_or(|raw| raw.addr().get() == 1))
    }
}

/// An array that was given to other libraries, which use it by DLPack tensors and array interfaces, as often as they ask: what is behind the methods `__dlpack__` and
/// `__cuda_array_interface__` of a Python object. This program does not write it any more, and the others order their work among each other.
///
/// The memory is freed when this, its clones and all tensors are gone, on any thread. On a GPU that is after the work of the others: what is queued by then on the legacy default stream, if
/// it was exported for that alone, else on all streams of the GPU, which are waited for.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::{Array, ConsumerStream, ExportedArray};
///
/// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1.0_f32, 2.0])?);
/// let tensor = exported.to_dlpack(ConsumerStream::legacy_default())?;
/// assert_eq!(exported.interface()?.shape, [2]);
/// drop(exported);
/// // SAFETY: it has two numbers, until it is dropped.
/// assert_eq!(unsafe { tensor.tensor().cpu_slice::<f32>() }.expect("it is one"), [1.0, 2.0]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "__dlpack__", alias = "DLManagedTensor")]
pub struct ExportedArray {
    memory: Arc<dyn Given>,
    device: Device,
    shape: Vec<usize>,
    element: ElementType,
}

impl ExportedArray {
    /// Gives the array away.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
    /// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1, 2, 3])?);
    /// assert_eq!(exported.to_cpu()?.shape(), [3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn new<T: Element, D: Dimension>(array: Array<T, D>) -> Self {
        let (device, shape) = (array.device().clone(), array.shape().to_vec());
        let memory = Memory {
            array: Mutex::new(Some(array.into_dyn())),
            by_others: AtomicBool::new(false),
            by_legacy: AtomicBool::new(false),
        };
        Self { memory: Arc::new(memory), device, shape, element: T::ELEMENT_TYPE }
    }

    /// Returns the device that has the elements.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
    /// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1, 2, 3])?);
    /// assert_eq!(exported.device(), &Device::cpu());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the number of elements along each axis.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
    /// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1, 2, 3])?);
    /// assert_eq!(exported.shape(), [3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the type of the elements.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
    /// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1, 2, 3])?);
    /// assert_eq!(exported.element_type(), i32::ELEMENT_TYPE);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn element_type(&self) -> ElementType {
        self.element
    }

    /// Returns a tensor of DLPack 1, which may be written, for work on a stream of the consumer.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
    /// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1, 2, 3])?);
    /// assert_eq!(exported.to_dlpack(ConsumerStream::legacy_default())?.version().major, 1);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::synchronize`]; [`Error::Foreign`](crate::Error::Foreign) for more axes or elements than DLPack counts.
    #[doc(alias = "DLManagedTensorVersioned")]
    pub fn to_dlpack(&self, stream: ConsumerStream) -> Result<versioned::Dlpack> {
        self.to_managed::<DLManagedTensorVersioned>(stream)
    }

    /// Returns a tensor of DLPack before version 1, as [`to_dlpack`](Self::to_dlpack).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
    /// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1, 2, 3])?);
    /// assert!(exported.to_legacy_dlpack(ConsumerStream::wait())?.validate().is_ok());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "DLManagedTensor")]
    pub fn to_legacy_dlpack(&self, stream: ConsumerStream) -> Result<legacy::Dlpack> {
        self.to_managed::<DLManagedTensor>(stream)
    }

    /// Returns what `__cuda_array_interface__` is on a GPU, and `__array_interface__` on the CPU device, of memory that may be written. Waits for the work that uses the array.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
    /// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1, 2, 3])?);
    /// assert_eq!(exported.interface()?.typestr, "<i4");
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::interface`].
    #[doc(alias = "__cuda_array_interface__", alias = "__array_interface__")]
    pub fn interface(&self) -> Result<ArrayInterface> {
        self.memory.interface()
    }

    /// Copies the elements to the CPU device, after all work of the GPU if it was exported. Nobody writes them meanwhile on another thread, as those who take tensors have to promise.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
    /// let exported = ExportedArray::new(Array::from_vec(&Device::cpu(), [1, 2, 3])?);
    /// assert_ne!(exported.to_cpu()?.interface()?.data, exported.interface()?.data);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    pub fn to_cpu(&self) -> Result<Self> {
        self.memory.to_cpu()
    }

    fn to_managed<M: ManagedTensorBase>(&self, stream: ConsumerStream) -> Result<Managed<M>> {
        let address = self.memory.address_for(stream)?;
        // DLPack asks for null where there are no bytes.
        let data = if self.shape.contains(&0) {
            std::ptr::null_mut()
        } else {
            std::ptr::with_exposed_provenance_mut(address)
        };
        let metadata = metadata::Dynamic::compact(self.shape.clone());
        let initialized = metadata.initialize_as::<M>(Box::new(Arc::clone(&self.memory)));
        let mut initialized = initialized.map_err(|source| error(source.to_string()))?;
        initialized
            .set_data(data)
            .set_dtype(self.element.to_dlpack())
            .set_device(to_dlpack_device(&self.device));
        // SAFETY: the array has the elements, in row-major order, until it is dropped with the context. This program does not write them any more, and others may.
        Ok(unsafe { initialized.finish() })
    }
}

impl std::fmt::Debug for ExportedArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { device, shape, element, .. } = self;
        f.debug_struct("ExportedArray")
            .field("device", device)
            .field("shape", shape)
            .field("element", &format_args!("{element}"))
            .finish()
    }
}

impl<T: Element, D: Dimension> Array<T, D> {
    /// Gives the array to another library as a tensor of DLPack 1, without a copy. The consumer may write it, and calls the deleter when it no longer needs it, on any thread; when the memory is
    /// freed then, [`ExportedArray`] says.
    ///
    /// [`ForeignArray::from_dlpack`](crate::ForeignArray::from_dlpack) has an example.
    ///
    /// # Errors
    /// As [`ExportedArray::to_dlpack`].
    #[doc(alias = "DLManagedTensorVersioned", alias = "__dlpack__")]
    pub fn into_dlpack(self, stream: ConsumerStream) -> Result<versioned::Dlpack> {
        ExportedArray::new(self).to_dlpack(stream)
    }
}

/// Memory that others use, whatever its elements are.
trait Given: Send + Sync {
    /// The address of the elements, for a consumer whose stream was made to wait for the work that uses them.
    fn address_for(&self, stream: ConsumerStream) -> Result<usize>;
    fn interface(&self) -> Result<ArrayInterface>;
    fn to_cpu(&self) -> Result<ExportedArray>;
}

/// Memory that others use, until this is dropped.
struct Memory<T: Element> {
    /// `None` at the end.
    array: Mutex<Option<Array<T, IxDyn>>>,
    /// Whether it was exported for the legacy default stream.
    by_legacy: AtomicBool,
    /// Whether it was exported for others.
    by_others: AtomicBool,
}

impl<T: Element> Memory<T> {
    fn array(&self) -> MutexGuard<'_, Option<Array<T, IxDyn>>> {
        self.array.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Element> Given for Memory<T> {
    fn address_for(&self, stream: ConsumerStream) -> Result<usize> {
        let _kept = CurrentContext::keep();
        let mut array = self.array();
        let Some(array) = array.as_mut() else { return Ok(0) };
        let device = array.device().clone();
        match stream.0 {
            _ if !device.is_gpu() => array.as_slice().__wait(true)?,
            Kind::Wait => array.as_slice().__wait(true)?,
            Kind::Unordered => {}
            Kind::Raw(raw) => {
                let raw = raw.map_or(std::ptr::null_mut(), NonNull::as_ptr);
                let args = [RawArg::slice_mut(array.as_mut_slice())];
                // SAFETY: a default stream, or as `from_raw` was promised. Nothing is queued: it only waits.
                unsafe { device.with_foreign_stream(raw, |stream| stream.queue(&args, |_| ()))? };
            }
        }
        let by = if stream.is_legacy() { &self.by_legacy } else { &self.by_others };
        by.store(true, Ordering::Relaxed);
        Ok(array.as_mut_slice().as_mut_ptr().expose_provenance())
    }

    fn interface(&self) -> Result<ArrayInterface> {
        let _kept = CurrentContext::keep();
        self.by_others.store(true, Ordering::Relaxed);
        match self.array().as_mut() {
            Some(array) => array.interface(),
            None => Err(error("its memory is gone")),
        }
    }

    fn to_cpu(&self) -> Result<ExportedArray> {
        let _kept = CurrentContext::keep();
        let array = self.array();
        let Some(array) = array.as_ref() else { return Err(error("its memory is gone")) };
        if self.by_others.load(Ordering::Relaxed) || self.by_legacy.load(Ordering::Relaxed) {
            array.device().__wait_until_idle()?;
        }
        let elements = array.to_vec()?;
        Ok(ExportedArray::new(Array::from_shape_vec(&Device::cpu(), array.raw_dim(), elements)?))
    }
}

impl<T: Element> Drop for Memory<T> {
    fn drop(&mut self) {
        let Some(array) = self.array().take() else { return };
        let device = array.device().clone();
        if !device.is_gpu() || array.is_empty() {
            return;
        }
        // Others call this, with a device of theirs. Dropped after the array.
        let _kept = CurrentContext::keep();
        let mut array = array;
        let args = [RawArg::slice_mut(array.as_mut_slice())];
        let is_ordered = !self.by_others.load(Ordering::Relaxed)
            && (!self.by_legacy.load(Ordering::Relaxed)
                // SAFETY: the legacy default stream is always there. Nothing is queued: what the consumer has queued by now comes before the end of the buffer.
                || unsafe { device.with_foreign_stream(std::ptr::null_mut(), |stream| stream.queue(&args, |_| ())) }.is_ok());
        if !is_ordered {
            // If this fails, the context is lost, and with it the work.
            let _ = device.__wait_until_idle();
        }
    }
}
