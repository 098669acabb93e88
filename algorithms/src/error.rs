//! The error type of algorithms.

/// The result type of algorithms.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an algorithm.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_algorithms::{Algorithms, Error, Sum};
///
/// let device = Device::cpu();
/// let (x, mut y) = (device.upload(&[1, 2, 3])?, device.zeroed(2)?);
/// let error = Algorithms::new(&device)?.inclusive_scan(&x, Sum, &mut y).unwrap_err();
/// assert!(matches!(error, Error::TooShort { .. }));
/// assert_eq!(error.to_string(), "`inclusive_scan` writes 3 elements, and `y` has room for 2");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the device or a launch says.
    #[error(transparent)]
    Runtime(#[from] gpukernel::Error),
    /// An output has fewer elements than are written.
    #[error("`{algorithm}` writes {needed} elements, and `{output}` has room for {len}")]
    TooShort {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// The name of the parameter.
        output: &'static str,
        /// How many elements are written.
        needed: usize,
        /// How many there is room for.
        len: usize,
    },
    /// Two inputs that belong together, or an input and what is changed with it, have different lengths.
    #[error(
        "`{algorithm}` takes as many elements of `{first}` as of `{second}`, and they have {first_len} and {second_len}"
    )]
    DifferentLengths {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// The name of a parameter.
        first: &'static str,
        /// Its length.
        first_len: usize,
        /// The name of the other.
        second: &'static str,
        /// Its length.
        second_len: usize,
    },
    /// There are more elements than an algorithm counts.
    #[error("`{algorithm}` is for at most {limit} elements here, and there are {len}")]
    TooMany {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// How many it is for.
        limit: usize,
        /// How many there are.
        len: usize,
    },
    /// An argument has a value that the algorithm has no meaning for.
    #[error("`{algorithm}`: {reason}")]
    Argument {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// An instance is of a crate of which no module was given.
    #[error(
        "the kernel `{kernel}` is not one that ships: give the module of its crate, by `Algorithms::with_module`"
    )]
    NoModule {
        /// The path of the kernel.
        kernel: &'static str,
    },
}
