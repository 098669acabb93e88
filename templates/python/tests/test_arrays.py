"""The functions with arrays of NumPy on the CPU and, where there is a GPU, of CuPy and PyTorch there."""

import gc

import numpy
import pytest

import my_project


def numpy_arrays():
    return numpy.asarray, numpy.asarray


def torch_arrays(device):
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU, says torch.cuda.is_available()")
    return (
        lambda array: torch.as_tensor(array, device=device),
        lambda tensor: tensor.cpu().numpy(),
    )


def cupy_arrays():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"there is no GPU, says CuPy: {error}")
    return cupy.asarray, cupy.asnumpy


LIBRARIES = {
    "numpy": numpy_arrays,
    "torch-cpu": lambda: torch_arrays("cpu"),
    "torch-cuda": lambda: torch_arrays("cuda"),
    "cupy": cupy_arrays,
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Two functions: one makes an array of a library from one of NumPy, the other one of NumPy from that."""
    return LIBRARIES[request.param]()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_add(library, dtype):
    make, to_numpy = library
    x, y = make(numpy.arange(10, dtype=dtype)), make(numpy.arange(10, dtype=dtype) * 2)
    result = my_project.add(x, y)
    assert type(result) is type(x) and result.dtype == x.dtype and result.device == x.device
    assert to_numpy(result).tolist() == [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]


def test_add_writes_to_an_array_that_is_there(library):
    make, to_numpy = library
    out = make(numpy.zeros((2, 3)))
    x, y = make(numpy.array([[1.0], [2.0]])), make(numpy.array([10.0, 20.0, 30.0]))
    assert my_project.add(x, y, out=out) is out
    assert to_numpy(out).tolist() == [[11, 21, 31], [12, 22, 32]]


def test_add_one_is_in_place(library):
    make, to_numpy = library
    x = make(numpy.arange(6.0).reshape(2, 3))
    my_project.add_one(x)
    assert to_numpy(x).tolist() == [[1, 2, 3], [4, 5, 6]]
    # Of a part.
    my_project.add_one(x[:, 1:])
    assert to_numpy(x).tolist() == [[1, 3, 4], [4, 6, 7]]


def test_work_of_both_is_in_order(library):
    make, to_numpy = library
    x = make(numpy.zeros(1 << 20, dtype="float32"))
    for _ in range(50):
        x += 1
        my_project.add_one(x)
        x = my_project.add(x, x)
        x = x / 2
    assert to_numpy(x).tolist() == [100] * len(x)


def test_results_live_as_long_as_they_are_used(library):
    make, to_numpy = library
    x = make(numpy.arange(1000.0))
    view = my_project.add(x, x)[997:]
    del x
    gc.collect()
    others = [my_project.add(make(numpy.zeros(1000)), make(numpy.zeros(1000))) for _ in range(20)]
    assert to_numpy(view + 0).tolist() == [1994, 1996, 1998]
    del others


def test_bad_arguments_are_exceptions(library):
    make, _ = library
    x = make(numpy.arange(3.0))
    with pytest.raises(TypeError, match="uint8, and this function takes float32, float64, int32, int64"):
        my_project.add_one(make(numpy.zeros(3, dtype="uint8")))
    with pytest.raises(TypeError, match="float32, not float64"):
        my_project.add(x, make(numpy.zeros(3, dtype="float32")))
    with pytest.raises(ValueError, match=r"does not broadcast with \[3\]"):
        my_project.add(x, make(numpy.zeros(2)))
    with pytest.raises(BufferError, match="overlaps another one"):
        my_project.add(x, x, out=x)
    with pytest.raises(TypeError, match="`str` is no array"):
        my_project.add_one("text")
