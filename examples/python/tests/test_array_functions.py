"""The functions beside NumPy and closed forms, with arrays of NumPy and, where they are installed, of PyTorch and CuPy: on the CPU and, where there is one, on a GPU."""

import ast
import inspect
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy
import pytest

import array_functions as ours


@dataclass
class Library:
    """How tests use a library of arrays."""

    make: Callable  # from an array of NumPy
    to_numpy: Callable
    pointer: Callable  # where the library says that the first element is
    from_dlpack: Callable


def numpy_arrays():
    return Library(numpy.array, numpy.asarray, lambda x: x.ctypes.data, numpy.from_dlpack)


def torch_arrays(device):
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU, says torch.cuda.is_available()")
    return Library(
        lambda array: torch.tensor(array, device=device),
        lambda tensor: tensor.cpu().numpy(),
        lambda tensor: tensor.data_ptr(),
        torch.from_dlpack,
    )


def cupy_arrays():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"there is no GPU, says CuPy: {error}")
    return Library(cupy.asarray, cupy.asnumpy, lambda x: x.data.ptr, cupy.from_dlpack)


LIBRARIES = {
    "numpy": numpy_arrays,
    "torch-cpu": lambda: torch_arrays("cpu"),
    "torch-cuda": lambda: torch_arrays("cuda"),
    "cupy": cupy_arrays,
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]()


def is_of_the_same_kind(result, x):
    return type(result) is type(x) and result.dtype == x.dtype and result.device == x.device


def addresses(library, x):
    """Where the first element of an array is: what Rust, its library, and the protocols say."""
    found = {ours.address(x), library.pointer(x), library.pointer(library.from_dlpack(x))}
    for interface in ["__array_interface__", "__cuda_array_interface__"]:
        if hasattr(x, interface):
            found.add(getattr(x, interface)["data"][0])
    return found


# What is computed.


def expected_price(stock, strike, years, rate, volatility):
    normal = numpy.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), otypes=["float64"])
    deviation = volatility * numpy.sqrt(years)
    d1 = (numpy.log(stock / strike) + (rate + volatility**2 / 2) * years) / deviation
    return stock * normal(d1) - strike * numpy.exp(-rate * years) * normal(d1 - deviation)


@pytest.mark.parametrize("dtype, error", [("float32", 2e-5), ("float64", 1e-13)])
def test_call_price(library, dtype, error):
    random = numpy.random.default_rng(1)
    stock, strike = random.uniform(5, 30, 10_000).astype(dtype), random.uniform(5, 30, 10_000).astype(dtype)
    years = random.uniform(0.25, 10, 10_000).astype(dtype)
    result = ours.call_price(*map(library.make, [stock, strike, years]), 0.02, 0.3)
    expected = expected_price(*(x.astype("float64") for x in [stock, strike, years]), 0.02, 0.3)
    # The price is a difference of numbers up to 30.
    assert numpy.abs(library.to_numpy(result) - expected).max() < 30 * error


def test_call_price_of_a_textbook(library):
    # Hull, "Options, Futures, and Other Derivatives".
    price = ours.call_price(library.make(numpy.array([42.0])), 40, 0.5, 0.1, 0.2)
    assert round(library.to_numpy(price).item(), 2) == 4.76


def test_arguments_are_broadcast(library):
    stock, strike, rate = numpy.array([[20.0], [25.0]]), numpy.array([18.0, 22.0, 30.0]), numpy.array(0.02)
    expected = expected_price(stock, strike, 2.0, rate, 0.3)
    x, y, z = map(library.make, [stock, strike, rate])
    price = ours.call_price(x, y, 2, z, 0.3)
    assert is_of_the_same_kind(price, x)
    numpy.testing.assert_allclose(library.to_numpy(price), expected, rtol=1e-12)
    # To an array that is there, here every other column of one.
    table = library.make(numpy.zeros((2, 6)))
    out = table[:, ::2]
    assert ours.call_price(x, y, 2.0, z, 0.3, out=out) is out
    numpy.testing.assert_allclose(library.to_numpy(table)[:, ::2], expected, rtol=1e-12)
    assert not library.to_numpy(table)[:, 1::2].any()


@pytest.mark.parametrize("dtype, error", [("float32", 1e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 1000), (2, 3, 4), (2, 20_000), (0, 4)])
def test_softmax(library, dtype, error, shape):
    # e to the power of 1000 is infinite.
    x = (numpy.random.default_rng(2).uniform(-5, 5, shape) + 1000).astype(dtype)
    powers = numpy.exp(x.astype("float64") - 1005)
    expected = powers / powers.sum(axis=-1, keepdims=True)
    array = library.make(x)
    result = ours.softmax(array)
    assert is_of_the_same_kind(result, array) and tuple(result.shape) == shape
    numpy.testing.assert_allclose(library.to_numpy(result), expected, atol=error, rtol=20 * error)


def test_softmax_of_a_number(library):
    assert library.to_numpy(ours.softmax(library.make(numpy.array(3.0)))).item() == 1


def test_softmax_of_columns(library):
    x = numpy.arange(12.0).reshape(4, 3)
    powers = numpy.exp(x - 11)
    result = ours.softmax(library.make(x).T)
    numpy.testing.assert_allclose(library.to_numpy(result), (powers / powers.sum(axis=0)).T, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_sum(library, dtype):
    # Of the first n numbers, n (n + 1) / 2. All sums of parts are integers that float32 has.
    for n in [0, 1, 1000, 5000]:
        x = library.make(numpy.arange(1, n + 1, dtype=dtype))
        result = ours.sum(x)
        assert is_of_the_same_kind(result, x) and tuple(result.shape) == ()
        assert library.to_numpy(result).item() == n * (n + 1) / 2
    x = library.make(numpy.arange(24, dtype=dtype).reshape(2, 3, 4))
    assert library.to_numpy(ours.sum(x)).item() == 276
    assert library.to_numpy(ours.sum(x[:, 1, ::2])).item() == 4 + 6 + 16 + 18


# What is not copied.


def test_functions_see_the_memory_of_the_caller(library):
    x = library.make(numpy.arange(6.0).reshape(2, 3))
    assert addresses(library, x) == {library.pointer(x)}
    # Of a part, that of its own first element.
    assert addresses(library, x[1, 2:]) == {library.pointer(x) + 5 * 8}
    assert addresses(library, x.T) == {library.pointer(x)}


def test_functions_write_to_the_memory_of_the_caller(library):
    x = library.make(numpy.arange(6.0).reshape(2, 3))
    pointer, alias = library.pointer(x), library.from_dlpack(x)
    assert ours.add_one(x) is None
    assert addresses(library, x) == {pointer}
    # Of a part, whose elements have others between them.
    assert ours.add_one(x[:, 1:]) is None
    assert addresses(library, x) == {pointer}
    assert library.to_numpy(x).tolist() == library.to_numpy(alias).tolist() == [[1, 3, 4], [4, 6, 7]]
    out = library.make(numpy.zeros(3))
    pointer, alias = library.pointer(out), library.from_dlpack(out)
    result = ours.call_price(library.make(numpy.array([20.0, 25.0, 30.0])), 1, 1, 0, 0.1, out=out)
    assert result is out and addresses(library, out) == {pointer}
    numpy.testing.assert_allclose(library.to_numpy(alias), [19, 24, 29], rtol=1e-12)


def test_results_are_the_memory_that_rust_allocated(library):
    x = library.make(numpy.arange(6, dtype="int32").reshape(2, 3))
    copy, allocated = ours.copied(x)
    assert is_of_the_same_kind(copy, x) and library.to_numpy(copy).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert addresses(library, copy) == {allocated} and allocated != library.pointer(x)
    # It is the library's to write, and comes back as it is.
    copy += 1
    ours.add_one(copy)
    assert addresses(library, copy) == {allocated}
    assert library.to_numpy(copy).tolist() == [[2, 3, 4], [5, 6, 7]]
    for result in [ours.sum(x), ours.softmax(library.make(numpy.ones((2, 2))))]:
        assert addresses(library, result) == {library.pointer(result)}


def test_libraries_share_the_memory_of_a_gpu():
    torch, cupy = torch_arrays("cuda"), cupy_arrays()
    stock = torch.make(numpy.array([42.0, 40.0]))
    price = ours.call_price(stock, cupy.make(numpy.array([40.0, 40.0])), 0.5, 0.1, 0.2)
    assert is_of_the_same_kind(price, stock)
    alias = cupy.from_dlpack(price)
    assert cupy.pointer(alias) == torch.pointer(price) == ours.address(alias)
    ours.add_one(alias)
    expected = expected_price(numpy.array([42.0, 40.0]), 40, 0.5, 0.1, 0.2) + 1
    numpy.testing.assert_allclose(torch.to_numpy(price), expected, rtol=1e-12)


# What is an exception.


def test_wrong_shapes(library):
    x, y = library.make(numpy.ones(3)), library.make(numpy.ones((2, 2)))
    with pytest.raises(ValueError, match=r"argument 1 of `call_price` has the shape \[2, 2\], which does not broadcast with \[3\]"):
        ours.call_price(x, y, 1, 0.02, 0.3)
    with pytest.raises(ValueError, match=r"argument 0 of `call_price` has the shape \[3\].*\[2, 2\]"):
        ours.call_price(x, 1, 1, 0.02, 0.3, out=y)


def test_wrong_types(library):
    x = library.make(numpy.ones(3))
    with pytest.raises(TypeError, match="the elements are int32, and this function takes float32, float64"):
        ours.softmax(library.make(numpy.ones(3, dtype="int32")))
    with pytest.raises(TypeError, match="the elements are uint8, and this function takes float32, float64, int32, int64"):
        ours.add_one(library.make(numpy.ones(3, dtype="uint8")))
    single = library.make(numpy.ones(3, dtype="float32"))
    for arguments, out in [((x, single, 1), None), ((x, 1, 1), single)]:
        with pytest.raises(TypeError, match="are float32, not float64"):
            ours.call_price(*arguments, 0.02, 0.3, out=out)
    for other in ["text", None]:
        with pytest.raises(TypeError, match="is no array"):
            ours.sum(other)
        with pytest.raises(TypeError, match="is no array"):
            ours.call_price(x, other, 1, 0.02, 0.3)
    with pytest.raises(TypeError, match="missing 2 required positional arguments: 'rate' and 'volatility'"):
        ours.call_price(x, 1, 1)


def test_memory_that_is_read_and_written(library):
    x = library.make(numpy.ones(3))
    with pytest.raises(BufferError, match="written overlaps another one, which this function .* has for reading"):
        ours.call_price(x, 1, 1, 0.02, 0.3, out=x)
    assert library.to_numpy(x).tolist() == [1, 1, 1]


def test_read_only_arrays_are_read():
    x = numpy.ones(3)
    x.flags.writeable = False
    assert ours.sum(x) == 3
    for write in [ours.add_one, lambda out: ours.call_price(numpy.ones(3), 1, 1, 0.02, 0.3, out=out)]:
        with pytest.raises(BufferError, match="read-only"):
            write(x)
    assert x.tolist() == [1, 1, 1]


def test_arrays_of_several_devices():
    torch = torch_arrays("cuda")
    with pytest.raises(ValueError, match="belongs to cpu"):
        ours.call_price(torch.make(numpy.ones(3)), numpy.ones(3), 1, 0.02, 0.3)


# What editors know.


def test_stubs_are_of_the_functions():
    stub = Path(ours.__file__).with_name("__init__.pyi")
    assert stub.with_name("py.typed").exists()
    described = {
        node.name: {argument.arg for argument in node.args.args}
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    functions = {name: value for name, value in vars(ours).items() if inspect.isbuiltin(value)}
    assert described == {name: set(inspect.signature(f).parameters) for name, f in functions.items()}
    assert all(f.__doc__ for f in functions.values())
