//! DLPack's capsules: a name, and a managed tensor that belongs to whoever changes the name.

use std::{ffi::CStr, ptr::NonNull};

use dlpark::{
    Managed, ManagedTensorBase,
    ffi::{DLManagedTensor, DLManagedTensorVersioned},
    legacy, versioned,
};
use pyo3::{ffi, prelude::*, types::PyCapsule};

use crate::{Error, Result, import::type_name};

const LEGACY: &CStr = c"dltensor";
const USED_LEGACY: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// A tensor of a capsule.
pub(crate) enum Tensor {
    Legacy(legacy::Dlpack),
    Versioned(versioned::Dlpack),
}

/// Takes the tensor out of a capsule, which is marked as used.
pub(crate) fn take(capsule: &Bound<'_, PyAny>) -> Result<Tensor> {
    let protocol = |reason: String| Error::Protocol { found: type_name(capsule), reason };
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
        protocol("`__dlpack__` has to return a capsule, and this is what it returned".to_owned())
    })?;
    let (used, pointer, is_versioned) = if let Ok(pointer) = capsule.pointer_checked(Some(VERSIONED)) {
        (USED_VERSIONED, pointer, true)
    } else if let Ok(pointer) = capsule.pointer_checked(Some(LEGACY)) {
        (USED_LEGACY, pointer, false)
    } else {
        // SAFETY: the name is copied at once.
        let name = capsule.name()?.map(|name| unsafe { name.as_cstr() }.to_string_lossy().into_owned());
        return Err(match name {
            Some(name) if name.starts_with("used_dltensor") => Error::UsedCapsule { name },
            name => protocol(format!("the capsule has the name {name:?}, which is none of DLPack's")),
        });
    };
    // From here on the tensor is this function's.
    // SAFETY: it is a capsule, and the name is there as long as the program.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) } != 0 {
        return Err(PyErr::fetch(capsule.py()).into());
    }
    let tensor = match is_versioned {
        // SAFETY: who makes a capsule of this name promises it, and that it is given to the first who asks.
        true => unsafe { Managed::from_raw(pointer.as_ptr().cast::<DLManagedTensorVersioned>()) }
            .map(Tensor::Versioned),
        // SAFETY: as above.
        false => unsafe { Managed::from_raw(pointer.as_ptr().cast::<DLManagedTensor>()) }.map(Tensor::Legacy),
    };
    tensor.map_err(|source| Error::Protocol { found: type_name(capsule), reason: source.to_string() })
}

/// A capsule of a tensor.
pub(crate) fn of(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyAny>> {
    match tensor {
        Tensor::Legacy(tensor) => capsule(py, tensor.into_raw(), LEGACY, delete::<DLManagedTensor>),
        Tensor::Versioned(tensor) => {
            capsule(py, tensor.into_raw(), VERSIONED, delete::<DLManagedTensorVersioned>)
        }
    }
}

fn capsule<'py, M: ManagedTensorBase>(
    py: Python<'py>,
    tensor: *mut M,
    name: &'static CStr,
    destructor: ffi::PyCapsule_Destructor,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the pointer is not null, the name is there as long as the program, and the destructor is for capsules of this name.
    let capsule = unsafe { ffi::PyCapsule_New(tensor.cast(), name.as_ptr(), Some(destructor)) };
    match NonNull::new(capsule) {
        // SAFETY: a new reference, of which nobody else knows.
        Some(capsule) => Ok(unsafe { Bound::from_owned_ptr(py, capsule.as_ptr()) }),
        None => {
            // SAFETY: no capsule has it.
            drop(unsafe { Managed::from_raw(tensor) });
            Err(PyErr::fetch(py))
        }
    }
}

trait Named: ManagedTensorBase {
    const NAME: &'static CStr;
}

impl Named for DLManagedTensor {
    const NAME: &'static CStr = LEGACY;
}

impl Named for DLManagedTensorVersioned {
    const NAME: &'static CStr = VERSIONED;
}

/// Frees a tensor that nobody has taken.
unsafe extern "C" fn delete<M: Named>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this for the capsule, once. If the name is another, somebody has taken the tensor.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) == 1 {
            let tensor = ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast::<M>();
            drop(Managed::from_raw(tensor));
        }
    }
}
