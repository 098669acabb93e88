//! The buffer protocol: memory of the host, of NumPy's arrays, `array.array`, `bytes`, `memoryview` and others.

use std::{borrow::Cow, ffi::CStr};

use gpukernel::Device;
use gpukernel_array::{ArrayInterface, Element, ElementKind, ElementType, ForeignArray};
use ndarray::IxDyn;
use pyo3::{ffi, prelude::*};

use crate::{Error, Result, import::type_name};

/// A buffer, which is released when this is dropped.
struct Buffer(Box<ffi::Py_buffer>);

// SAFETY: who has it only releases it, with Python attached, for which any thread will do.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        // At the end of the interpreter there is nobody to give it back to.
        // SAFETY: it was filled by `PyObject_GetBuffer`, and is released once.
        Python::try_attach(|_| unsafe { ffi::PyBuffer_Release(&mut *self.0) });
    }
}

impl Buffer {
    fn of(object: &Bound<'_, PyAny>, is_to_be_written: bool) -> Result<Self> {
        // SAFETY: the object is alive.
        if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 0 {
            return Err(Error::NotAnArray { found: type_name(object) });
        }
        let flags = if is_to_be_written { ffi::PyBUF_FULL } else { ffi::PyBUF_FULL_RO };
        let mut buffer = Box::new(ffi::Py_buffer::new());
        // SAFETY: the pointers are to a live object and a live struct, which stays where it is.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut *buffer, flags) } != 0 {
            return Err(PyErr::fetch(object.py()).into());
        }
        Ok(Self(buffer))
    }

    /// The format of Python's `struct`.
    fn format(&self) -> Cow<'_, str> {
        match self.0.format.is_null() {
            // Bytes.
            true => "B".into(),
            // SAFETY: it is a text that is there as long as the buffer.
            false => unsafe { CStr::from_ptr(self.0.format) }.to_string_lossy(),
        }
    }

    /// The type of the elements, or what there is in place of one.
    fn element(&self) -> Result<ElementType, String> {
        let format = self.format();
        element(&format, self.0.itemsize).ok_or_else(|| format!("of the format {format:?}"))
    }
}

/// The name of the type of an object's elements, by its buffer.
pub(crate) fn element_type(object: &Bound<'_, PyAny>) -> Result<String> {
    Ok(Buffer::of(object, false)?.element().map_or_else(|other| other, |element| element.to_string()))
}

/// An object as an array of the CPU device, by its buffer.
pub(crate) fn import<T: Element>(
    object: &Bound<'_, PyAny>,
    is_to_be_written: bool,
) -> Result<ForeignArray<T, IxDyn>> {
    let found = || type_name(object);
    let buffer = Buffer::of(object, is_to_be_written)?;
    let view = &*buffer.0;
    let protocol = |reason: &str| Error::Protocol { found: found(), reason: reason.to_owned() };
    if !view.suboffsets.is_null() {
        return Err(protocol("its buffer is one of pointers to rows"));
    }
    let (element, asked) = (buffer.element(), T::ELEMENT_TYPE);
    if element != Ok(asked) {
        let found = element.map_or_else(|other| other, |element| element.to_string());
        return Err(gpukernel_array::Error::WrongElementType { what: "a buffer", found, asked }.into());
    }
    let axes =
        usize::try_from(view.ndim).map_err(|_| protocol("its buffer has a negative number of axes"))?;
    let (shape, strides) = match axes {
        0 => (&[][..], &[][..]),
        _ if view.shape.is_null() || view.strides.is_null() => {
            return Err(protocol("its buffer has no shape"));
        }
        // SAFETY: a buffer of full information has as many extents and strides.
        _ => unsafe {
            (std::slice::from_raw_parts(view.shape, axes), std::slice::from_raw_parts(view.strides, axes))
        },
    };
    let shape: Option<Vec<usize>> = shape.iter().map(|&extent| usize::try_from(extent).ok()).collect();
    let shape = shape.ok_or_else(|| protocol("its buffer has a negative extent"))?;
    // What it lacks a name for was refused.
    let typestr = asked.typestr().unwrap_or_default();
    let mut interface =
        ArrayInterface::new((view.buf.expose_provenance(), view.readonly != 0), typestr, shape);
    interface.strides = Some(strides.to_vec());
    // SAFETY: the buffer has these elements until it is released. Nobody else uses them meanwhile, as the caller of the function for Python promises.
    Ok(unsafe { ForeignArray::from_interface(&Device::cpu(), &interface, buffer)? })
}

/// The type of a format of Python's `struct`, for elements of so many bytes.
fn element(format: &str, bytes: isize) -> Option<ElementType> {
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let code = format.trim_start_matches(['@', '=', native]);
    let kind = match code {
        "?" => ElementKind::Bool,
        "b" | "h" | "i" | "l" | "q" | "n" => ElementKind::Int,
        "B" | "H" | "I" | "L" | "Q" | "N" => ElementKind::UInt,
        "e" | "f" | "d" => ElementKind::Float,
        "Zf" | "Zd" => ElementKind::Complex,
        _ => return None,
    };
    Some(ElementType { kind, bytes: u8::try_from(bytes).ok()? })
}
