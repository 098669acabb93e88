//! Objects as arrays: by DLPack if they have it, else by `__cuda_array_interface__`, else by the buffer protocol.

use dlpark::{Managed, ManagedTensorBase};
use gpu_std::DeviceCopy;
use gpukernel::{Device, Stream};
use gpukernel_array::{ArrayInterface, Element, ForeignArray};
use ndarray::{Dimension, IxDyn};
use pyo3::{
    exceptions::{PyBufferError, PyTypeError},
    intern,
    prelude::*,
    types::PyDict,
};

use crate::{
    Error, Result,
    borrow::Place,
    buffer,
    capsule::{self, Tensor},
    library::Library,
};

/// What this crate knows of DLPack.
const DLPACK_VERSION: (u32, u32) = (dlpark::ffi::DLPACK_MAJOR_VERSION, dlpark::ffi::DLPACK_MINOR_VERSION);

/// The name of an object's type, for errors.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().fully_qualified_name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

/// The memory of an array.
pub(crate) fn place<T: DeviceCopy, D: Dimension>(array: &ForeignArray<T, D>) -> Place {
    Place::new(array.device().gpu_index(), array.__address(), array.shape(), &array.strides(), size_of::<T>())
}

/// An object as an array.
pub(crate) fn import<T: Element>(
    object: &Bound<'_, PyAny>,
    library: Library,
    is_to_be_written: bool,
) -> Result<ForeignArray<T, IxDyn>> {
    let py = object.py();
    let is_host = match object.getattr_opt(intern!(py, "__dlpack_device__"))? {
        Some(device) => {
            let device = device.call0()?.extract()?;
            match dlpack(object, device, library) {
                // NumPy before 2.1 cannot say that an array is read-only, which buffers can.
                Err(Error::Python(error))
                    if library == Library::NumPy && error.is_instance_of::<PyBufferError>(py) =>
                {
                    true
                }
                result => return result,
            }
        }
        None => false,
    };
    if !is_host && let Some(interface) = object.getattr_opt(intern!(py, "__cuda_array_interface__"))? {
        return cuda_array_interface(object, &interface, library);
    }
    buffer::import(object, is_to_be_written)
}

/// By `__dlpack__`, which has to make the device's default stream wait for what the library has queued.
fn dlpack<T: Element>(
    object: &Bound<'_, PyAny>,
    (kind, index): (u32, i32),
    library: Library,
) -> Result<ForeignArray<T, IxDyn>> {
    let py = object.py();
    // As DLPack numbers kinds of devices: GPUs, and managed memory.
    let gpu = matches!(kind, 2 | 13).then_some(index).and_then(|index| usize::try_from(index).ok());
    let stream = gpu.map(Device::gpu).transpose()?.map(|device| device.default_stream());
    let arguments = PyDict::new(py);
    if let Some(handle) = stream.as_ref().and_then(Stream::as_raw) {
        arguments.set_item(intern!(py, "stream"), handle.addr())?;
    }
    let method = object.getattr(intern!(py, "__dlpack__"))?;
    arguments.set_item(intern!(py, "max_version"), DLPACK_VERSION)?;
    let capsule = match method.call((), Some(&arguments)) {
        // Of a library from before DLPack 1.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            arguments.del_item(intern!(py, "max_version"))?;
            method.call((), Some(&arguments))?
        }
        result => result?,
    };
    match capsule::take(&capsule)? {
        Tensor::Legacy(tensor) => managed(object, tensor, stream, library),
        Tensor::Versioned(tensor) => managed(object, tensor, stream, library),
    }
}

fn managed<T: Element, M: ManagedTensorBase + 'static>(
    object: &Bound<'_, PyAny>,
    tensor: Managed<M>,
    stream: Option<Stream>,
    library: Library,
) -> Result<ForeignArray<T, IxDyn>> {
    match stream {
        None => {
            // SAFETY: the tensor is of a compiled library, which promises it. Nobody else uses it meanwhile, as the caller of the function for Python promises.
            let array: ForeignArray<T, IxDyn> = unsafe { ForeignArray::from_dlpack(tensor, None)? };
            if array.device().is_gpu() {
                // Its work was not ordered before that of this device.
                let reason = "its tensor is on a GPU, and `__dlpack_device__` said that it is not".to_owned();
                return Err(Error::Protocol { found: type_name(object), reason });
            }
            Ok(array)
        }
        Some(stream) => {
            let after = After { stream: stream.clone(), library };
            // SAFETY: as above; the stream waits for what the library has queued, and the library's for what is queued there.
            Ok(unsafe { ForeignArray::__from_dlpack(tensor, &stream, after)? })
        }
    }
}

/// Makes what a library does next with memory of a GPU come after the work on a stream of this device: lets the stream on which the library works wait, or else waits for the work.
struct After {
    stream: Stream,
    library: Library,
}

impl Drop for After {
    fn drop(&mut self) {
        let device = self.stream.device();
        // This extension orders its own work.
        if self.library == Library::Own {
            return;
        }
        let library_waits = || {
            let index = device.gpu_index()?;
            let theirs = Python::try_attach(|py| self.library.current_stream(py, index).ok())???;
            let event = self.stream.record().ok()?;
            // SAFETY: the library works on this stream now, so that it is there.
            unsafe { device.with_foreign_stream(theirs, |theirs| theirs.wait(&event)) }.ok()
        };
        if library_waits().is_none() {
            // Errors of work are for whoever waits next. If waiting fails, the context is lost, and with it the work.
            let _ = self.stream.__wait_until_done();
        }
    }
}

/// By `__cuda_array_interface__`, as Numba has it.
fn cuda_array_interface<T: Element>(
    object: &Bound<'_, PyAny>,
    interface: &Bound<'_, PyAny>,
    library: Library,
) -> Result<ForeignArray<T, IxDyn>> {
    let protocol = |reason: String| Error::Protocol { found: type_name(object), reason };
    let get = |name: &str| {
        interface
            .get_item(name)
            .map_err(|_| protocol(format!("its `__cuda_array_interface__` has no `{name}`")))
    };
    // What need not be there.
    let optional = |name: &str| interface.get_item(name).ok().filter(|item| !item.is_none());
    if optional("mask").is_some() {
        return Err(protocol("arrays with a mask are not known".to_owned()));
    }
    let mut description = ArrayInterface::new(
        get("data")?.extract()?,
        get("typestr")?.extract::<String>()?,
        get("shape")?.extract::<Vec<usize>>()?,
    );
    description.strides = optional("strides").map(|strides| strides.extract()).transpose()?;
    description.stream = optional("stream").map(|stream| stream.extract()).transpose()?;
    description.version = get("version")?.extract()?;
    // Without bytes, any device will do.
    let device = match description.shape.contains(&0) {
        true => Device::gpu(0)?,
        false => Device::gpu_of_address(std::ptr::without_provenance(description.data.0))?,
    };
    let after = After { stream: device.default_stream(), library };
    let owner = (after, object.clone().unbind());
    // SAFETY: the object describes memory of the GPU, as the driver has just said, and keeps it as long as it is there itself. Nobody else uses it meanwhile, as the caller of the
    // function for Python promises.
    Ok(unsafe { ForeignArray::from_interface(&device, &description, owner)? })
}
