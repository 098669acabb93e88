//! Tensors of DLPack, both ways, by the types of dlpark.

use dlpark::{
    DlpackFlags, Managed, ManagedTensorBase,
    ffi::{DLDataType, DLDataTypeCode, DLDevice, DLDeviceType},
};
use gpukernel::{Device, Stream};
use ndarray::Dimension;

use crate::{
    Element, ElementKind, ElementType, Error, ForeignArray, Result, foreign::Description,
    interface::WaitFirst,
};

const WHAT: &str = "a DLPack tensor";

pub(crate) fn error(reason: impl Into<String>) -> Error {
    Error::Foreign { what: WHAT, reason: reason.into() }
}

impl ElementType {
    /// The type as DLPack's.
    ///
    /// ```
    /// # use gpukernel_array::Element;
    /// assert_eq!(f32::ELEMENT_TYPE.to_dlpack(), dlpark::ffi::DLDataType::F32);
    /// ```
    pub fn to_dlpack(self) -> DLDataType {
        let code = match self.kind {
            ElementKind::Bool => DLDataTypeCode::BOOL,
            ElementKind::Int => DLDataTypeCode::INT,
            ElementKind::UInt => DLDataTypeCode::UINT,
            ElementKind::Float => DLDataTypeCode::FLOAT,
            ElementKind::BFloat => DLDataTypeCode::BFLOAT,
            ElementKind::Complex => DLDataTypeCode::COMPLEX,
        };
        DLDataType::scalar(code, self.bytes.saturating_mul(8))
    }

    /// The type of DLPack's; `None` for types that this crate has no name for, such as numbers of less than a byte, and vectors.
    ///
    /// ```
    /// # use gpukernel_array::{Element, ElementType};
    /// assert_eq!(ElementType::from_dlpack(dlpark::ffi::DLDataType::C64), Some(<gpu_std::complex::Complex<f32>>::ELEMENT_TYPE));
    /// assert_eq!(ElementType::from_dlpack(dlpark::ffi::DLDataType::F4E2M1FN), None);
    /// ```
    pub fn from_dlpack(data_type: DLDataType) -> Option<Self> {
        let kind = match data_type.code {
            DLDataTypeCode::BOOL => ElementKind::Bool,
            DLDataTypeCode::INT => ElementKind::Int,
            DLDataTypeCode::UINT => ElementKind::UInt,
            DLDataTypeCode::FLOAT => ElementKind::Float,
            DLDataTypeCode::BFLOAT => ElementKind::BFloat,
            DLDataTypeCode::COMPLEX => ElementKind::Complex,
            _ => return None,
        };
        (data_type.lanes == 1 && data_type.bits.is_multiple_of(8))
            .then_some(Self { kind, bytes: data_type.bits / 8 })
    }
}

/// The device of a DLPack tensor.
fn device_of(device: DLDevice) -> Result<Device> {
    match device.device_type {
        // Pinned memory is the host's.
        DLDeviceType::CPU | DLDeviceType::CUDAHOST => Ok(Device::cpu()),
        DLDeviceType::CUDA | DLDeviceType::CUDAMANAGED => {
            let index = usize::try_from(device.device_id);
            let index = index.map_err(|_| error(format!("it is of GPU {}", device.device_id)))?;
            Ok(Device::gpu(index)?)
        }
        other => Err(error(format!(
            "it is of a device of DLPack's type {}, and those of the CPU (1) and of NVIDIA GPUs (2) are known",
            other.0
        ))),
    }
}

/// A device as DLPack's.
pub(crate) fn to_dlpack_device(device: &Device) -> DLDevice {
    device.gpu_index().map_or(DLDevice::CPU, |index| DLDevice::cuda(i32::try_from(index).unwrap_or(i32::MAX)))
}

impl<T: Element, D: Dimension> ForeignArray<T, D> {
    /// Takes over a tensor of another library, without a copy: one on a GPU or in the memory of the host, for the CPU device. Work uses it after what is queued on `stream` by now, the one that
    /// the producer was told (`stream` of `__dlpack__`), or on the device's default stream. The producer's deleter is called when the array is gone, and no work of `stream` uses it.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_array::{Array, ConsumerStream, ForeignArray};
    ///
    /// let x = Array::from_shape_vec(&Device::cpu(), (2, 3), [1, 2, 3, 4, 5, 6])?;
    /// let tensor = x.into_dlpack(ConsumerStream::wait())?;
    /// // SAFETY: it was an array, which nobody else has.
    /// let y: ForeignArray<i32, ndarray::Ix2> = unsafe { ForeignArray::from_dlpack(tensor, None)? };
    /// assert_eq!(y.t().to_vec()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongElementType`]; [`Error::WrongDimension`]; [`Error::Foreign`] for devices of other kinds, a negative extent, strides that reach too far, and metadata that contradict each other;
    /// [`WrongDevice`](gpukernel::Error::WrongDevice) for a stream of another device; as [`Buffer::from_foreign`](gpukernel::Buffer::from_foreign), such as for an address that is not aligned for the elements, and [`Device::gpu`].
    /// The deleter is called then, too.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw), for what the tensor says. If it is read-only, nobody else writes it meanwhile. A tensor of the legacy type does not say whether it is.
    #[doc(alias = "DLManagedTensor", alias = "DLManagedTensorVersioned", alias = "__dlpack__")]
    pub unsafe fn from_dlpack<M: ManagedTensorBase + 'static>(
        tensor: Managed<M>,
        stream: Option<&Stream>,
    ) -> Result<Self> {
        let device = checked_device(&tensor)?;
        let stream = stream.map_or_else(|| device.default_stream(), Stream::clone);
        let first = WaitFirst { stream: stream.clone(), owner: () };
        // SAFETY: as the caller promises.
        unsafe { Self::__from_dlpack(tensor, &stream, first) }
    }

    /// As [`from_dlpack`](Self::from_dlpack): what is dropped before the deleter is called sees to it that the producer does not use or free the memory before the work that is queued on `stream`
    /// by then is done.
    ///
    /// # Safety
    /// As there.
    #[doc(hidden)]
    pub unsafe fn __from_dlpack<M: ManagedTensorBase + 'static, B: Send + Sync + 'static>(
        tensor: Managed<M>,
        stream: &Stream,
        before: B,
    ) -> Result<Self> {
        let device = checked_device(&tensor)?;
        if stream.device() != device {
            return Err(Error::Runtime(gpukernel::Error::WrongDevice {
                what: "the stream".to_owned(),
                doing: "taking over a DLPack tensor".to_owned(),
                found: stream.device().to_string(),
                expected: device.to_string(),
            }));
        }
        let is_read_only = tensor.flags().contains(DlpackFlags::READ_ONLY);
        let found = tensor.validate().map_err(|source| error(source.to_string()))?;
        let (asked, data_type) = (T::ELEMENT_TYPE, found.dtype());
        match ElementType::from_dlpack(data_type) {
            Some(found) if found == asked => {}
            Some(found) => {
                return Err(Error::WrongElementType { what: WHAT, found: found.to_string(), asked });
            }
            None => {
                let DLDataType { code, bits, lanes } = data_type;
                let found = format!("of DLPack's code {}, with {bits} bits and {lanes} lanes", code.0);
                return Err(Error::WrongElementType { what: WHAT, found, asked });
            }
        }
        let shape = lossless(found.shape())?;
        let strides = found.strides_or_compact().map_err(|source| error(source.to_string()))?;
        let strides = lossless(&strides)?;
        let address = usize::try_from(found.byte_offset())
            .ok()
            .and_then(|offset| found.data_ptr().expose_provenance().checked_add(offset))
            .ok_or_else(|| error("its byte offset reaches beyond memory"))?;
        let description = Description { what: WHAT, address, shape: &shape, strides: &strides, is_read_only };
        // SAFETY: as the caller promises. The fields are dropped in their order.
        unsafe { Self::described(stream, &description, Owner { _before: before, _tensor: tensor }) }
    }
}

/// Dropped in this order.
struct Owner<B, M: ManagedTensorBase> {
    _before: B,
    /// Calls the deleter.
    _tensor: Managed<M>,
}

/// The device of a tensor.
fn checked_device<M: ManagedTensorBase>(tensor: &Managed<M>) -> Result<Device> {
    let found = tensor.validate().map_err(|source| error(source.to_string()))?;
    device_of(found.device())
}

/// Numbers of a tensor as those of this machine.
fn lossless<N: TryFrom<i64>>(numbers: &[i64]) -> Result<Vec<N>> {
    let convert =
        |&number| N::try_from(number).map_err(|_| error(format!("{number} is no extent or stride")));
    numbers.iter().map(convert).collect()
}
