//! Arguments that are arrays or numbers.

use gpu_std::{DeviceCopy, prelude::Float};
use gpukernel_array::{Element, Input, Operand};
use gpukernel_python::{Error, PyArray};
use ndarray::IxDyn;
use pyo3::{
    Borrowed,
    prelude::*,
    types::{PyFloat, PyInt},
};

/// An array, or a number that stands for an array of it at all positions.
pub(crate) enum ArrayOrNumber<'py, T: DeviceCopy> {
    Array(PyArray<'py, T>),
    Number(T),
}

impl<'py, T: Element + Float> FromPyObject<'_, 'py> for ArrayOrNumber<'py, T> {
    type Error = Error;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Error> {
        // Not whatever becomes a float: arrays of one element do, and on a GPU they would be copied to the host.
        match object.is_instance_of::<PyFloat>() || object.is_instance_of::<PyInt>() {
            true => Ok(Self::Number(T::from_f64(object.extract()?))),
            false => Ok(Self::Array(object.extract()?)),
        }
    }
}

impl<T: DeviceCopy> Operand<T> for &ArrayOrNumber<'_, T> {
    type Dim = IxDyn;

    fn input(&self) -> Input<'_, T> {
        match self {
            ArrayOrNumber::Array(array) => Operand::input(array),
            ArrayOrNumber::Number(number) => Operand::input(number),
        }
    }
}
