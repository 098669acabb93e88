"""Functions of NumPy, CuPy and PyTorch arrays in Rust, which compute where the arrays are, without copies."""

# For editors and type checkers, which do not look into compiled modules.

from typing import Any, Protocol, TypeVar

class _Array(Protocol):
    """`numpy.ndarray`, `cupy.ndarray`, `torch.Tensor` and others."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

_A = TypeVar("_A", bound=_Array)

def call_price(
    stock: _A,
    strike: _Array | float,
    years: _Array | float,
    rate: _Array | float,
    volatility: _Array | float,
    out: _A | None = None,
) -> _A:
    """The prices of European call options, by the formula of Black and Scholes, of arguments that are broadcast."""

def softmax(x: _A) -> _A:
    """The softmax along the last axis, as a new array."""

def sum(x: _A) -> _A:
    """The sum of the elements, as a new array of no axes, which stays where `x` is."""

def add_one(x: _Array) -> None:
    """Adds 1 to each element, in place."""

def address(x: _Array) -> int:
    """The address at which a function finds the first element: that of the caller's memory."""

def copied(x: _A) -> tuple[_A, int]:
    """A copy as a new array, and the address of the memory that was allocated for it."""
