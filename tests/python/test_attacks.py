"""Arrays that lie, are freed, borrowed twice, written where that is forbidden: each is an exception, and nothing is lost or kept."""

import array
import ctypes
import gc
import threading
from random import Random

import numpy
import pytest

import gpukernel_python_tests as ours

PointerOf = ctypes.pythonapi.PyCapsule_GetPointer
PointerOf.restype, PointerOf.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
IsValid = ctypes.pythonapi.PyCapsule_IsValid
IsValid.restype, IsValid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]

VERSIONED = b"dltensor_versioned"


class Tensor(ctypes.Structure):
    """`DLTensor`."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    """`DLManagedTensorVersioned`."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Producer:
    """An object whose `__dlpack__` returns the same thing each time."""

    dtype = numpy.dtype("float64")

    def __init__(self, capsule, device=(1, 0)):
        self.capsule, self.device = capsule, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        return self.capsule


@pytest.fixture(autouse=True)
def nothing_is_kept():
    gc.collect()
    before = ours.buffers("cpu")
    yield
    gc.collect()
    assert ours.buffers("cpu") == before


@pytest.fixture(params=["cpu", "gpu"])
def device(request):
    if request.param == "gpu" and not ours.has_gpu():
        pytest.skip("there is no GPU")
    return request.param


def capsule(shape=(3,)):
    return ours.arange(list(shape), "cpu").__dlpack__(max_version=(1, 0))


def fields(capsule):
    return Versioned.from_address(PointerOf(capsule, VERSIONED))


# Capsules.


def test_a_capsule_is_used_once():
    producer = Producer(capsule())
    assert ours.elements(producer) == [0, 1, 2]
    assert IsValid(producer.capsule, b"used_dltensor_versioned") == 1
    for _ in range(2):
        with pytest.raises(BufferError, match="was used before.*used_dltensor_versioned"):
            ours.elements(producer)
    legacy = Producer(ours.arange([3], "cpu").__dlpack__())
    assert ours.elements(legacy) == [0, 1, 2]
    with pytest.raises(BufferError, match="was used before.*used_dltensor"):
        ours.elements(legacy)


def test_a_capsule_that_nobody_uses_frees_its_memory(device):
    before = ours.buffers(device)
    capsules = [ours.arange([3], device).__dlpack__(max_version=(1, 3)) for _ in range(5)]
    assert ours.buffers(device) == before + 5
    del capsules
    assert ours.buffers(device) == before


def test_memory_is_freed_with_its_last_user():
    x = ours.arange([4], "cpu")
    by_dlpack, by_interface = numpy.from_dlpack(x), numpy.asarray(x)
    by_interface[0] = 7
    assert by_dlpack.tolist() == [7, 1, 2, 3] == ours.elements(x)
    before = ours.buffers("cpu")
    del x, by_interface
    assert ours.buffers("cpu") == before and by_dlpack.tolist() == [7, 1, 2, 3]
    del by_dlpack
    assert ours.buffers("cpu") == before - 1


def test_memory_is_freed_on_another_thread(device):
    before = ours.buffers(device)
    kept = [ours.arange([1000], device).__dlpack__(max_version=(1, 0)) for _ in range(10)]
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    assert ours.buffers(device) == before


def test_versions_and_names_of_capsules():
    x = ours.arange([3], "cpu")
    for version, name in [(None, b"dltensor"), ((0, 8), b"dltensor"), ((1, 0), VERSIONED), ((2, 0), VERSIONED)]:
        assert IsValid(x.__dlpack__(max_version=version), name) == 1
    for found in [None, 3, "dltensor", object()]:
        with pytest.raises(BufferError, match="has to return a capsule"):
            ours.elements(Producer(found))
    New = ctypes.pythonapi.PyCapsule_New
    New.restype, New.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    for name in [b"arrow_array", None]:
        with pytest.raises(BufferError, match="none of DLPack's"):
            ours.elements(Producer(New(1, name, None)))


def test_what_a_tensor_says_is_checked():
    def change(**changes):
        changed = capsule((2, 3))
        for name, value in changes.items():
            where = fields(changed)
            if name == "axis":
                where.tensor.shape[0] = value
            elif name == "stride":
                where.tensor.strides[0] = value
            elif hasattr(where, name):
                setattr(where, name, value)
            else:
                setattr(where.tensor, name, value)
        return Producer(changed)

    for error, match, changes in [
        (BufferError, "incompatible|version", {"major": 2}),
        (ValueError, "negative: -1", {"axis": -1}),
        (ValueError, "overflows", {"axis": 1 << 62}),
        (ValueError, "reaches further than memory", {"stride": 1 << 62}),
        (ValueError, "reaches further than memory", {"stride": -(1 << 62)}),
        (ValueError, "reaches further than memory", {"stride": -(1 << 63)}),
        (ValueError, "strides", {"strides": ctypes.POINTER(ctypes.c_int64)()}),
        (ValueError, "shape pointer is null", {"shape": ctypes.POINTER(ctypes.c_int64)()}),
        (ValueError, "ndim is negative", {"ndim": -1}),
        (ValueError, "aligned to 8 bytes", {"byte_offset": 4}),
        (ValueError, "beyond memory", {"byte_offset": (1 << 64) - 1}),
        (ValueError, "0x0, is not one of f64", {"data": None}),
        (TypeError, "float32, not float64", {"bits": 32}),
        (TypeError, "int64, not float64", {"code": 0}),
        (TypeError, "code 2, with 64 bits and 2 lanes", {"lanes": 2}),
        (TypeError, "code 17, with 4 bits", {"code": 17, "bits": 4}),
        (ValueError, "bit width", {"bits": 0}),
        (ValueError, "device of DLPack's type 10", {"device_type": 10}),
    ]:
        with pytest.raises(error, match=match):
            ours.elements(change(**changes))
    # A tensor of 0 bytes need not be anywhere.
    assert ours.elements(change(axis=0, data=None)) == []


def test_a_read_only_tensor_is_not_written():
    for write in [lambda x: ours.fill(x, 1.0), lambda x: ours.copy(numpy.zeros(3), x), ours.panic]:
        read_only = capsule()
        fields(read_only).flags |= 1
        with pytest.raises(BufferError, match="read-only"):
            write(Producer(read_only))
    read_only = capsule()
    fields(read_only).flags |= 1
    assert ours.elements(Producer(read_only)) == [0, 1, 2]


def test_arrays_of_jax_are_not_written():
    """Its tensors do not say so. Here, and with the library where it is."""
    kind = type("ArrayImpl", (Producer,), {"__module__": "jaxlib._jax"})
    assert ours.elements(kind(capsule())) == [0, 1, 2]
    with pytest.raises(BufferError, match="read-only"):
        ours.fill(kind(capsule()), 1.0)
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    x = jax.numpy.arange(3.0, dtype="float64")
    y = ours.copied(x)
    assert type(y) is type(x) and y.tolist() == ours.elements(x) == [0, 1, 2]
    with pytest.raises(BufferError, match="read-only"):
        ours.fill(x, 1.0)


def test_devices_that_are_not_there():
    with pytest.raises((ValueError, RuntimeError)):
        ours.elements(Producer(capsule(), device=(2, 99)))
    with pytest.raises(ValueError, match="device of DLPack's type 8"):
        changed = capsule()
        fields(changed).tensor.device_type = 8
        ours.elements(Producer(changed, device=(8, 0)))


def test_errors_of_producers_are_theirs():
    class Broken:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            raise KeyError("as it happens")

    class Nonsense:
        def __dlpack_device__(self):
            return "cpu"

    with pytest.raises(KeyError, match="as it happens"):
        ours.elements(Broken())
    with pytest.raises(TypeError):
        ours.elements(Nonsense())


# What a DeviceArray is asked for.


def test_requests_that_cannot_be_met(device):
    x = ours.arange([3], device)
    kind = x.__dlpack_device__()
    for request in [{"copy": True}, {"dl_device": (8, 0)}, {"dl_device": (3 - kind[0], 0)}]:
        with pytest.raises(BufferError, match="makes no copies"):
            x.__dlpack__(**request)
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=0 if device == "gpu" else 1)
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=-2)
    if device == "cpu":
        assert not hasattr(x, "__cuda_array_interface__")
    else:
        assert not hasattr(x, "__array_interface__")
        assert x.__cuda_array_interface__["stream"] is None
    x.__dlpack__(copy=False, dl_device=kind)
    assert (x.shape, x.ndim, x.dtype, x.device) == ((3,), 1, "float64", "cpu" if device == "cpu" else "gpu:0")
    assert repr(x).startswith("<DeviceArray of shape [3] and dtype float64 on ")


def test_a_device_array_is_taken_by_all(device):
    x = ours.arange([2, 3], device)
    assert numpy.asarray(x).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x.__array__(dtype="int32").dtype == "int32"
    ours.fill(x, 4.0)
    assert ours.elements(x) == [4] * 6
    y = ours.copied(x)
    assert type(y) is ours.DeviceArray and y.device == x.device
    if device == "gpu":
        with pytest.raises(ValueError, match="only as copies"):
            x.__array__(copy=False)
    with pytest.raises(BufferError, match="overlaps"):
        ours.copy(x, x)
    with pytest.raises(TypeError):
        ours.DeviceArray()


# Copies, of which there are none.


def test_an_array_of_rust_has_one_address(device):
    x = ours.arange([2, 3], device)
    interface = x.__array_interface__ if device == "cpu" else x.__cuda_array_interface__
    (address, is_read_only), given = interface["data"], x.__dlpack__(max_version=(1, 0))
    assert not is_read_only and fields(given).tensor.data + fields(given).tensor.byte_offset == address
    assert ours.address(x) == ours.address_for_writing(x) == ours.address(Producer(given, x.__dlpack_device__())) == address
    if device == "cpu":
        assert numpy.asarray(x).ctypes.data == numpy.from_dlpack(x).ctypes.data == address
    else:
        assert ours.address(Interface(x)) == ours.address_for_writing(Interface(x)) == address


def test_arrays_of_numpy_keep_their_addresses():
    x = numpy.arange(24.0).reshape(2, 3, 4)
    for view in [x, x.T, x[::-1], x[:, ::-2, 1:], x[1, 2, 3:], numpy.broadcast_to(x[0, 0], (5, 2, 4))]:
        assert ours.address(view) == view.ctypes.data
        if view.flags.writeable:
            assert ours.address_for_writing(view) == view.ctypes.data
    # By the buffer protocol.
    numbers = array.array("d", [1, 2, 3])
    assert ours.address(numbers) == ours.address_for_writing(numbers) == numbers.buffer_info()[0]


def check_library(x, pointer, **takers):
    """An array of a library, and one of ours that the library takes, have the same addresses on both sides."""
    assert ours.address(x) == ours.address_for_writing(x) == pointer(x)
    assert ours.address(x[1:, ::2]) == ours.address_for_writing(x[1:, ::2]) == pointer(x[1:, ::2])
    result = ours.copied(x)
    assert type(result) is type(x) and ours.address(result) == pointer(result) != pointer(x)
    kind = x.__dlpack_device__()[0]
    made = ours.arange([2, 3], "cpu" if kind == 1 else "gpu")
    for name, take in takers.items():
        taken = take(made)
        assert pointer(taken) == ours.address(made) == ours.address(taken), name
        taken += 1
    # Of the library, which orders its own work before ours.
    assert ours.elements(taken) == [number + len(takers) for number in range(6)]


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_tensors_of_pytorch_keep_their_addresses(kind):
    torch = pytest.importorskip("torch")
    if kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU, says torch.cuda.is_available()")
    x = torch.arange(6.0, dtype=torch.float64, device=kind).reshape(2, 3)
    takers = {"from_dlpack": torch.from_dlpack}
    if kind == "cuda":
        takers["__cuda_array_interface__"] = lambda made: torch.as_tensor(made, device="cuda")
        assert ours.address(Interface(x)) == x.data_ptr()
    check_library(x, lambda x: x.data_ptr(), **takers)


def test_arrays_of_cupy_keep_their_addresses(on_gpu):
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(6.0).reshape(2, 3)
    assert ours.address(Interface(x)) == x.data.ptr
    check_library(x, lambda x: x.data.ptr, from_dlpack=cupy.from_dlpack, __cuda_array_interface__=cupy.asarray)


def test_arrays_of_numba_keep_their_addresses(on_gpu):
    """By `__cuda_array_interface__`, both ways."""
    cuda = pytest.importorskip("numba.cuda")
    x = cuda.to_device(numpy.arange(6.0))
    address = x.__cuda_array_interface__["data"][0]
    assert ours.address(x) == ours.address_for_writing(x) == address
    assert ours.address(x[2:]) == address + 16
    ours.fill(x[2:], 7.0)
    assert x.copy_to_host().tolist() == [0, 1, 7, 7, 7, 7]
    taken = cuda.as_cuda_array(on_gpu)
    assert taken.__cuda_array_interface__["data"][0] == ours.address(on_gpu) == ours.address(taken)
    assert taken.copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]


# Shapes, strides, alignment.


def test_any_strides_are_read():
    x = numpy.arange(24.0).reshape(2, 3, 4)
    for view in [
        x,
        x.T,
        x[::-1],
        x[:, ::-2, 1:],
        x[..., ::-1].T,
        numpy.asfortranarray(x),
        x[1, 2, 3],
        x[1, 2, 3:],
        x[:, :0],
        x[:0].T,
        numpy.broadcast_to(x[0, 0], (5, 2, 4)),
        numpy.float64(3),
        numpy.zeros((1,) * 20),
    ]:
        assert ours.elements(view) == numpy.ravel(view).tolist()
        assert ours.elements_detached(view) == numpy.ravel(view).tolist()


def test_any_strides_without_overlap_are_written():
    for part in [
        lambda x: x,
        lambda x: x.T,
        lambda x: x[::-1, ::2],
        lambda x: x[:, 1:2],
        lambda x: x[1],
        lambda x: x[1, 2, ...],
        lambda x: x[:, :0],
        lambda x: x[::-2].T,
    ]:
        x, expected = numpy.zeros((4, 6)), numpy.zeros((4, 6))
        part(expected)[...] = 5
        ours.fill(part(x), 5.0)
        assert x.tolist() == expected.tolist()


def test_elements_that_are_several_positions_are_not_written():
    x = numpy.zeros(8)
    overlapping = numpy.lib.stride_tricks.as_strided(x, (3, 4), (16, 8))
    assert ours.elements(overlapping) == [0] * 12
    with pytest.raises(ValueError, match="same element|overlap"):
        ours.fill(overlapping, 1.0)
    # NumPy says that it is read-only.
    with pytest.raises(BufferError, match="read-only"):
        ours.fill(numpy.broadcast_to(numpy.zeros(1), 3), 1.0)
    assert x.tolist() == [0] * 8


def test_misaligned_elements():
    memory = numpy.zeros(41, dtype="uint8")
    misaligned = memory[1:].view("float64")
    with pytest.raises(ValueError, match="aligned to 8 bytes"):
        ours.elements(misaligned)
    # Every 12 bytes a float64: NumPy does not export strides that are no multiples.
    packed = numpy.zeros(3, dtype=[("x", "<f8"), ("y", "<i4")])["x"]
    with pytest.raises((BufferError, ValueError)):
        ours.elements(packed)


def test_other_elements():
    for other, found in [
        (numpy.zeros(3, "float32"), "float32, not float64"),
        (numpy.zeros(3, "int64"), "int64, not float64"),
        (numpy.zeros(3, "bool"), "bool, not float64"),
        (numpy.zeros(3, "complex128"), "complex128, not float64"),
    ]:
        with pytest.raises(TypeError, match=found):
            ours.elements(other)
    for other in [
        numpy.zeros(3, ">f8"),
        numpy.zeros(3, "longdouble"),
        numpy.zeros(3, "U4"),
        numpy.zeros(3, "M8[ns]"),
        numpy.zeros(3, [("x", "f8")]),
        numpy.array([None]),
    ]:
        # Some of these are NumPy's, which gives neither tensors nor buffers of them.
        with pytest.raises((TypeError, BufferError, ValueError)):
            ours.elements(other)
    with pytest.raises(ValueError, match="1 axes, not 2"):
        ours.rows(numpy.zeros(3))
    assert ours.halves(numpy.array([1.5, -2], "float16")) == [1.5, -2]
    assert ours.parts(numpy.array([1 + 2j], "complex64")) == [(1, 2)]


def test_more_elements_than_31_bits():
    # Zeros of the system, of which two pages are touched.
    x = numpy.zeros((1 << 31) + 8, dtype="uint8")
    x[-1] = 9
    assert ours.last_byte(x) == ((1 << 31) + 8, 9)
    assert ours.last_byte(x[::-2]) == ((1 << 30) + 4, 0)
    with pytest.raises((ValueError, MemoryError)):
        ours.elements(numpy.broadcast_to(numpy.zeros(1), (1 << 40, 1 << 40)))


# Other protocols.


def test_buffers():
    assert ours.bytes(b"abc") == b"abc" == ours.bytes(bytearray(b"abc")) == ours.bytes(memoryview(b"abc"))
    assert ours.bytes(memoryview(b"abcdef")[::-2]) == b"fdb"
    numbers = array.array("d", [1, 2, 3])
    assert ours.elements(numbers) == [1, 2, 3]
    ours.fill(numbers, 4.0)
    assert numbers.tolist() == [4, 4, 4]
    # It is released.
    numbers.append(5)
    with pytest.raises(BufferError):
        ours.while_read(numbers, lambda: numbers.append(6))
    with pytest.raises(BufferError):
        ours.fill(memoryview(numbers).toreadonly(), 1.0)
    with pytest.raises(TypeError, match="float32, not float64"):
        ours.elements(array.array("f", [1]))
    with pytest.raises(TypeError, match="no array"):
        ours.elements([1.0, 2.0])


def test_cuda_array_interfaces_that_lie():
    class Liar:
        def __init__(self, **interface):
            self.__cuda_array_interface__ = interface

    good = {"shape": (3,), "typestr": "<f8", "data": (4096, False), "version": 3}
    for error, changes in [
        (BufferError, {"shape": None}),
        (BufferError, {"data": None}),
        (BufferError, {"mask": numpy.zeros(3)}),
    ]:
        interface = {name: value for name, value in (good | changes).items() if value is not None}
        with pytest.raises(error):
            ours.elements(Liar(**interface))
    # Nobody knows memory there, be there a driver or not.
    with pytest.raises((RuntimeError, ValueError)):
        ours.elements(Liar(**good))


# Borrows.


def test_an_array_is_written_by_one_at_a_time():
    x = numpy.zeros((4, 4))
    assert ours.while_read(x, lambda: ours.elements(x)) == [0] * 16
    for inner in [lambda: ours.fill(x, 1.0), lambda: ours.fill(x[1:2], 1.0), lambda: ours.copy(x[0], x[0])]:
        with pytest.raises(BufferError, match="written overlaps another one.*for reading"):
            ours.while_read(x, inner)
    for inner in [lambda: ours.elements(x), lambda: ours.elements(x[::-1, 3])]:
        with pytest.raises(BufferError, match="read overlaps another one.*for writing"):
            ours.while_written(x, inner)
    ours.fill(x, 2.0)
    assert x.sum() == 32


def test_parts_that_do_not_overlap_are_borrowed_together():
    x = numpy.arange(16.0).reshape(4, 4)
    ours.copy(x[0], x[1])
    ours.copy(x[:, 0], x[:, 3])
    ours.copy(x[::2, ::-1], x[1::2])
    ours.copy(x[:, ::2], x[:, 1::2].T.copy().T)
    ours.copy(x[:, ::2], x[:, 1::2])
    ours.while_written(x[:, 1], lambda: ours.fill(x[:, 2], 1.0))
    with pytest.raises(BufferError, match="overlaps"):
        ours.copy(x[:2], x[1:3])
    with pytest.raises(BufferError, match="overlaps"):
        ours.copy(x[:, :2], x[:, 1:3])
    with pytest.raises(BufferError, match="overlaps"):
        ours.copy(x[::2], x[-2::-2])
    # Bytes of the same memory.
    ours.while_written(x[0], lambda: ours.bytes(x[1:].view("uint8")))
    with pytest.raises(BufferError, match="overlaps"):
        ours.while_written(x[0], lambda: ours.bytes(x.view("uint8")[:1, 31:]))


def random_view(random, x):
    """A part of an array, of any strides, with its axes in any order."""

    def index(extent):
        if random.random() < 0.15:
            return random.randrange(extent)
        start, stop = sorted(random.choices(range(extent + 1), k=2))
        view = slice(start, stop, random.choice([1, 1, 2, 3]))
        return view if random.random() < 0.7 else slice(stop - 1, None if start == 0 else start - 1, -1)

    view = x[(*(index(extent) for extent in x.shape), ...)]
    return view.transpose(random.sample(range(view.ndim), view.ndim))


def test_random_views_are_read_and_written_as_numpy_does():
    random = Random(1)
    x = numpy.arange(4.0 * 5 * 6).reshape(4, 5, 6)
    for number in range(2000):
        view = random_view(random, x)
        assert ours.elements(view) == numpy.ravel(view).tolist(), (view.shape, view.strides)
        y, expected = numpy.zeros((4, 5, 6)), numpy.zeros((4, 5, 6))
        random = Random(number)
        random_view(random, expected)[...] = 1
        random = Random(number)
        ours.fill(random_view(random, y), 1.0)
        assert (y == expected).all()


def test_random_views_that_share_memory_are_not_borrowed_together():
    random, x = Random(2), numpy.zeros((4, 5, 6))
    shared = refused = 0
    for _ in range(3000):
        a, b = random_view(random, x), random_view(random, x)
        if not a.size or not b.size:
            continue
        try:
            ours.while_written(a, lambda: ours.elements(b))
            is_refused = False
        except BufferError:
            is_refused = True
        shares = numpy.shares_memory(a, b)
        # It may refuse what lies between each other in more than one way, and never the other way round.
        assert is_refused or not shares, (a.shape, a.strides, b.shape, b.strides)
        shared, refused = shared + shares, refused + is_refused
    assert 100 < shared <= refused < 2 * shared, (shared, refused)


def test_a_borrow_on_another_thread():
    x, errors = numpy.zeros(4), []

    def other():
        try:
            ours.fill(x, 1.0)
        except BufferError as error:
            errors.append(error)

    def inside():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    ours.while_read(x, inside)
    assert len(errors) == 1 and x.sum() == 0


def test_a_panic_ends_the_borrow():
    x = numpy.zeros(4)
    for _ in range(3):
        with pytest.raises(BaseException, match=r"of shape \[4\]"):
            ours.panic(x)
    ours.fill(x, 1.0)
    with pytest.raises(ZeroDivisionError):
        ours.while_written(x, lambda: 1 / 0)
    ours.fill(x, 2.0)
    assert x.tolist() == [2] * 4


def test_a_panic_of_a_kernel_is_raised_by_the_function_that_waits_for_it():
    x, y = numpy.ones(4, "int32"), numpy.zeros(4, "int32")
    for _ in range(3):
        with pytest.raises(RuntimeError, match="divide by zero"):
            ours.divide(x, 0, y, True)
        ours.divide(x, 1, y, True)
        assert y.tolist() == [1] * 4
    # It writes in place and returns nothing, and does not ask how its work ended: the next one that asks is told.
    ours.divide(x, 0, y, False)
    with pytest.raises(RuntimeError, match="divide by zero"):
        ours.divide(x, 1, y, True)
    ours.divide(x, 1, y, True)
    assert y.tolist() == [1] * 4


def test_an_array_outlives_the_names_that_python_has_for_it():
    x = numpy.zeros(1000)

    def forget():
        nonlocal x
        x = None
        gc.collect()
        return numpy.ones(1000)

    assert ours.while_read(x, forget).sum() == 1000


# On a GPU: `.ci/run python` also simulates one, whose memory is the host's and whose copies are done at once.


class Interface:
    """An object with `__cuda_array_interface__` alone, as Numba's have it."""

    dtype = numpy.dtype("float64")

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | changes


@pytest.fixture
def on_gpu():
    if not ours.has_gpu():
        pytest.skip("there is no GPU")
    return ours.arange([2, 3], "gpu")


def test_cuda_array_interfaces(on_gpu):
    before = ours.buffers("gpu")
    for stream in [None, 1, 2]:
        assert ours.elements(Interface(on_gpu, stream=stream)) == [0, 1, 2, 3, 4, 5]
    assert ours.elements(Interface(on_gpu, strides=None, shape=(6,))) == [0, 1, 2, 3, 4, 5]
    assert ours.elements(Interface(on_gpu, shape=(0, 3))) == []
    address = on_gpu.__cuda_array_interface__["data"][0]
    ours.fill(Interface(on_gpu, strides=None, shape=(3,), data=(address + 8, False)), 9.0)
    assert numpy.asarray(on_gpu).tolist() == [[0, 9, 9], [9, 4, 5]]
    for error, match, changes in [
        (BufferError, "read-only", {"data": (address, True)}),
        (ValueError, "stream is 0", {"stream": 0}),
        (ValueError, "version 1", {"version": 1}),
        (TypeError, "float32, not float64", {"typestr": "<f4"}),
        (ValueError, "byte order of other machines", {"typestr": ">f8"}),
        (ValueError, "not a type of numbers", {"typestr": "<V8"}),
        (ValueError, "a stride is 12 bytes", {"strides": (12, 8)}),
        (ValueError, "2 axes and 1 strides", {"strides": (8,)}),
        (ValueError, "overlap|same element", {"strides": (0, 8)}),
        (ValueError, "aligned to 8 bytes", {"data": (address + 4, False)}),
        (ValueError, "knows no memory there", {"data": (4096, False)}),
        (BufferError, "mask", {"mask": 1}),
        (TypeError, ".", {"shape": "text"}),
        (OverflowError, ".", {"shape": (-1, 3)}),
    ]:
        with pytest.raises(error, match=match):
            ours.fill(Interface(on_gpu, **changes), 1.0)
    assert ours.buffers("gpu") == before


def test_memory_of_the_host_that_claims_to_be_of_a_gpu(on_gpu):
    lie = capsule()
    fields(lie).tensor.device_type = 2
    with pytest.raises(ValueError, match="none that the driver knows|memory of gpu"):
        ours.elements(Producer(lie, device=(2, 0)))
    # And a tensor of another device than `__dlpack_device__` says.
    with pytest.raises(ValueError, match="none that the driver knows|is on cpu|stream"):
        ours.elements(Producer(capsule(), device=(2, 0)))
    on_cpu = ours.arange([3], "gpu").__dlpack__(max_version=(1, 0))
    with pytest.raises(BufferError, match="is on a GPU, and `__dlpack_device__` said that it is not"):
        ours.elements(Producer(on_cpu, device=(1, 0)))
    with pytest.raises((ValueError, RuntimeError)):
        ours.elements(Producer(capsule(), device=(2, 7)))


def test_the_current_stream_of_a_library_waits(on_gpu, monkeypatch):
    asked = []

    class Stream:
        ptr = cuda_stream = 0

    class Cuda:
        @staticmethod
        def get_current_stream(gpu):
            asked.append(gpu)
            return Stream

        current_stream = get_current_stream

    class Library:
        cuda = Cuda

        @staticmethod
        def from_dlpack(array):
            return type(array), array.__dlpack__(stream=1, max_version=(1, 0))

    for name in ["cupy", "torch"]:
        monkeypatch.setitem(__import__("sys").modules, name, Library)
        kind = type("Array", (Producer,), {"__module__": f"{name}.parts"})
        assert ours.elements(kind(on_gpu.__dlpack__(max_version=(1, 0)), device=(2, 0))) == [0, 1, 2, 3, 4, 5]
        assert asked.pop() == 0
        result = ours.copied(kind(on_gpu.__dlpack__(max_version=(1, 0)), device=(2, 0)))
        assert result[0] is ours.DeviceArray and IsValid(result[1], VERSIONED)
        # One that does not answer is waited for here.
        monkeypatch.setattr(Library, "cuda", None)
        assert ours.elements(kind(on_gpu.__dlpack__(max_version=(1, 0)), device=(2, 0))) == [0, 1, 2, 3, 4, 5]
        monkeypatch.setattr(Library, "cuda", Cuda)
        asked.clear()


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_work_on_another_stream_of_a_library_is_in_order(on_gpu, name):
    library = pytest.importorskip(name)
    if name == "torch":
        stream, here = library.cuda.stream(library.cuda.Stream()), {"device": "cuda"}
    else:
        stream, here = library.cuda.Stream(non_blocking=True), {}
    with stream:
        x, y = (library.zeros(1 << 20, dtype=library.float64, **here) for _ in range(2))
        for _ in range(50):
            x += 1
            ours.copy(x, y)
            y += 1
            x = ours.copied(y)
        assert (x == 100).all()


def test_the_device_of_the_program_stays(on_gpu):
    """`cudaSetDevice` chooses a context, which calls of ours change meanwhile."""
    cuda = ctypes.CDLL("libcuda.so.1")
    current, other = ctypes.c_void_p(), ctypes.c_void_p()
    # The device that was used last, and a context that is none, or that of another device.
    cuda.cuCtxGetCurrent(ctypes.byref(other))
    if ours.gpus() > 1:
        ours.arange([3], "gpu:1")
        cuda.cuCtxGetCurrent(ctypes.byref(other))
    else:
        other.value = None
    for function in [
        lambda: ours.elements(on_gpu),
        lambda: ours.fill(on_gpu, 1.0),
        lambda: ours.copied(on_gpu).__dlpack__(),
        lambda: ours.elements(Interface(on_gpu)),
        lambda: numpy.asarray(on_gpu),
    ]:
        cuda.cuCtxSetCurrent(other)
        function()
        cuda.cuCtxGetCurrent(ctypes.byref(current))
        assert current.value == other.value
