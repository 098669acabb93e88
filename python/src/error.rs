//! The error type, which becomes an exception.

use pyo3::{
    PyErr,
    exceptions::{PyBufferError, PyMemoryError, PyRuntimeError, PyTypeError, PyValueError},
};

/// The result type of functions for Python.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a function for Python: what [`?`](std::ops::Try) makes of those of arrays, of the runtime and of PyO3. Python sees
///
/// | error | exception |
/// |---|---|
/// | elements of another type, an object that is no array | `TypeError` |
/// | shapes, strides, axes and indices | `ValueError` |
/// | an array that cannot be borrowed or must not be written | `BufferError` |
/// | memory is full | `MemoryError` |
/// | others of the runtime, such as a panic of a kernel | `RuntimeError` |
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Of arrays.
    #[error(transparent)]
    Array(Box<gpukernel_array::Error>),
    /// Of the runtime.
    #[error(transparent)]
    Runtime(Box<gpukernel::Error>),
    /// An exception.
    #[error(transparent)]
    Python(#[from] PyErr),
    /// An object is no array, or none that is known.
    #[error(
        "an object of type `{found}` is no array: it has none of `__dlpack__`, `__cuda_array_interface__` and the buffer protocol"
    )]
    NotAnArray {
        /// The name of its type.
        found: String,
    },
    /// A function has no instance for the elements of an array.
    #[error("the elements are {found}, and this function takes {known}")]
    NoInstance {
        /// What the elements are.
        found: String,
        /// What they may be.
        known: String,
    },
    /// An object breaks a protocol.
    #[error("an object of type `{found}` breaks the protocol of arrays: {reason}")]
    Protocol {
        /// The name of its type.
        found: String,
        /// How.
        reason: String,
    },
    /// A DLPack capsule was used before.
    #[error(
        "the DLPack capsule was used before (its name is {name:?}): call `__dlpack__` again for each use"
    )]
    UsedCapsule {
        /// Its name.
        name: String,
    },
    /// The memory of an array is borrowed by this call, or one that is not over, and one of both writes it.
    #[error(
        "an array that is to be {} overlaps another one, which this function or one on another thread has for {}",
        if *.is_to_be_written { "written" } else { "read" },
        if *.is_written { "writing" } else { "reading" }
    )]
    Borrowed {
        /// Whether the array was to be written.
        is_to_be_written: bool,
        /// Whether the other one is.
        is_written: bool,
    },
}

impl From<gpukernel_array::Error> for Error {
    fn from(error: gpukernel_array::Error) -> Self {
        match error {
            gpukernel_array::Error::Runtime(error) => error.into(),
            error => Self::Array(Box::new(error)),
        }
    }
}

impl From<gpukernel::Error> for Error {
    fn from(error: gpukernel::Error) -> Self {
        Self::Runtime(Box::new(error))
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Python(error) => error,
            Error::NotAnArray { .. } | Error::NoInstance { .. } => PyTypeError::new_err(text),
            Error::Borrowed { .. } | Error::UsedCapsule { .. } | Error::Protocol { .. } => {
                PyBufferError::new_err(text)
            }
            Error::Array(error) => match *error {
                gpukernel_array::Error::WrongElementType { .. } => PyTypeError::new_err(text),
                gpukernel_array::Error::ReadOnly { .. } => PyBufferError::new_err(text),
                _ => PyValueError::new_err(text),
            },
            Error::Runtime(error) => match *error {
                gpukernel::Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
                gpukernel::Error::OverlappingElements { .. }
                | gpukernel::Error::NotIndexable { .. }
                | gpukernel::Error::Foreign { .. }
                | gpukernel::Error::WrongDevice { .. } => PyValueError::new_err(text),
                _ => PyRuntimeError::new_err(text),
            },
        }
    }
}
