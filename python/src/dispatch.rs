//! Which instance of a generic function an object asks for.

#[doc(hidden)]
pub use gpukernel_array::Element;
use gpukernel_array::ElementType;
use pyo3::{intern, prelude::*};

use crate::{Error, Result, buffer};

/// The name of the type of an array's elements, by its `dtype`, or its buffer.
#[doc(hidden)]
pub fn dtype(object: &Bound<'_, PyAny>) -> Result<String> {
    let Some(dtype) = object.getattr_opt(intern!(object.py(), "dtype"))? else {
        return buffer::element_type(object);
    };
    let dtype = dtype.str()?;
    let dtype = dtype.to_str()?;
    // PyTorch's is `torch.float32`.
    Ok(dtype.rsplit('.').next().unwrap_or(dtype).to_owned())
}

/// Whether a type has this name.
#[doc(hidden)]
pub fn is<T: Element>(dtype: &str) -> bool {
    T::ELEMENT_TYPE.to_string() == dtype
}

/// The error of a type that is none of these.
#[doc(hidden)]
pub fn no_instance(found: String, known: &[ElementType]) -> Error {
    let known: Vec<String> = known.iter().map(ElementType::to_string).collect();
    Error::NoInstance { found, known: known.join(", ") }
}

/// Evaluates an expression with a type of elements, the one of the list that an object's `dtype` names: the instance of a generic function that a call from Python asks for.
///
/// ```no_run,standalone_crate
/// use gpukernel_array::{ArrayFunction, Element, add, module};
/// use gpukernel_python::{PyArray, Result, dispatch};
/// use pyo3::prelude::*;
///
/// /// Adds 1 to arrays of float32 and float64, in new ones.
/// #[pyfunction]
/// fn add_one<'py>(x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
///     dispatch!(x, T in [f32, f64] => {
///         let x: PyArray<'py, T> = x.extract()?;
///         x.like(add::apply(&module(x.device())?, (&x, T::from(1_u8)))?)
///     })
/// }
/// ```
///
/// The value is a [`Result`](crate::Result), as is that of the expression. For other types it is [`Error::NoInstance`](crate::Error::NoInstance), which becomes a `TypeError` that names those of the list.
#[macro_export]
macro_rules! dispatch {
    ($object:expr, $T:ident in [$($Element:ty),+ $(,)?] => $call:expr) => {
        match $crate::__dispatch::dtype($object) {
            $(Ok(dtype) if $crate::__dispatch::is::<$Element>(&dtype) => {
                type $T = $Element;
                $call
            })+
            Ok(dtype) => Err($crate::__dispatch::no_instance(
                dtype,
                &[$(<$Element as $crate::__dispatch::Element>::ELEMENT_TYPE),+],
            )),
            Err(error) => Err(error),
        }
    };
}
