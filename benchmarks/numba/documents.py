"""The programs of benches/gpu/documents.rs by the interpreter and by Numba, and what else Numba's introductions give numbers of.

    python3 benchmarks/numba/documents.py
"""

import time

import numpy as np
from numba import cuda, float32, float64, int32, njit, vectorize

WIDTH, HEIGHT, ITERATIONS = 1536, 1024, 20
UPPER = 10_000


def seconds(call, calls):
    """The least of so many calls."""
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def on_gpu(call, calls):
    """The least of the times of ten times so many calls, by events."""
    call()
    times = []
    for _ in range(10):
        start, end = cuda.event(), cuda.event()
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        times.append(cuda.event_elapsed_time(start, end) / 1e3 / calls)
    return min(times)


def show(what, time, to=None):
    ratio = f"  {to / time:9.1f} x" if to else ""
    print(f"{what:44} {time * 1e3:12.4f} ms{ratio}", flush=True)


def mandelbrot(x, y, iterations):
    c = complex(x, y)
    z = 0j
    for i in range(iterations):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return 255 * i // iterations
    return 255


def fractal(of, image):
    height, width = image.shape
    for column in range(width):
        for row in range(height):
            image[row, column] = of(-2.0 + column * 3.0 / width, -1.0 + row * 2.0 / height, ITERATIONS)


def mandelbrots():
    # A 64th of the picture, of which the whole takes a minute.
    small = np.zeros((HEIGHT // 8, WIDTH // 8), np.uint8)
    interpreted = 64 * seconds(lambda: fractal(mandelbrot, small), 1)
    show("mandelbrot: interpreter (64 x a 64th)", interpreted, interpreted)
    image, compiled, loop = np.zeros((HEIGHT, WIDTH), np.uint8), njit(mandelbrot), njit(fractal)
    loop(compiled, image)
    show("mandelbrot: numba.njit", seconds(lambda: loop(compiled, image), 5), interpreted)
    if not cuda.is_available():
        return
    device = cuda.jit(device=True)(mandelbrot)

    @cuda.jit
    def kernel(image):
        column, row = cuda.grid(2)
        height, width = image.shape
        if column < width and row < height:
            image[row, column] = device(-2.0 + column * 3.0 / width, -1.0 + row * 2.0 / height, ITERATIONS)

    target = cuda.device_array((HEIGHT, WIDTH), np.uint8)
    grid = (WIDTH // 32, HEIGHT // 32), (32, 32)
    show("mandelbrot: cuda.jit", on_gpu(lambda: kernel[grid](target), 20), interpreted)
    ufunc = vectorize(["uint32(float64, float64, uint32)"], target="cuda")(mandelbrot)
    x = cuda.to_device(-2.0 + np.arange(WIDTH) * 3.0 / WIDTH)
    y = cuda.to_device((-1.0 + np.arange(HEIGHT) * 2.0 / HEIGHT).reshape(HEIGHT, 1))
    try:
        out = cuda.device_array((HEIGHT, WIDTH), np.uint32)
        show("mandelbrot: vectorize", on_gpu(lambda: ufunc(x, y, np.uint32(ITERATIONS), out=out), 20), interpreted)
    except Exception as error:  # Numba broadcasts no arrays on the GPU: whole arrays then.
        print("mandelbrot: vectorize does not broadcast arrays of a GPU:", type(error).__name__)
        x, y = np.meshgrid(x.copy_to_host(), y.copy_to_host().ravel())
        x, y, out = (cuda.to_device(a.ravel()) for a in (x, y, np.zeros(x.shape, np.uint32)))
        show("mandelbrot: vectorize", on_gpu(lambda: ufunc(x, y, np.uint32(ITERATIONS), out=out), 20), interpreted)


def primes_below(upper):
    primes = []
    for number in range(2, upper):
        for i in range(2, number):
            if number % i == 0:
                break
        else:
            primes.append(number)
    return primes


def prime(number):
    for i in range(2, number):
        if number % i == 0:
            return 0
    return number


def primes():
    show("primes: interpreter", seconds(lambda: primes_below(UPPER), 2))
    compiled = njit(primes_below)
    compiled(10)
    show("primes: numba.njit", seconds(lambda: compiled(UPPER), 5))
    if not cuda.is_available():
        return

    @cuda.jit
    def alone(number, result):
        result[0] = 0
        for i in range(2, number):
            if number % i == 0:
                break
        else:
            result[0] = number

    def one_by_one():
        found, result = [], np.zeros(1, np.int32)
        for number in range(2, UPPER):
            alone[1, 1](number, result)
            if result[0] > 0:
                found.append(number)
        return found

    assert len(one_by_one()) == 1229
    show("primes: a launch per number", seconds(one_by_one, 1))
    ufunc = vectorize(["int32(int32)"], target="cuda")(prime)
    numbers = np.arange(2, UPPER, dtype=np.int32)
    assert np.count_nonzero(ufunc(numbers)) == 1229
    show("primes: one launch, with copies", seconds(lambda: ufunc(numbers), 10))


def transposes():
    tile, rows, padded = 32, 8, 33

    @cuda.jit
    def naive(a, out):
        x = cuda.blockIdx.x * tile + cuda.threadIdx.x
        y = cuda.blockIdx.y * tile + cuda.threadIdx.y
        for j in range(0, tile, rows):
            out[x, y + j] = a[y + j, x]

    @cuda.jit
    def tiled(a, out):
        part = cuda.shared.array((tile, padded), float32)
        x = cuda.blockIdx.x * tile + cuda.threadIdx.x
        y = cuda.blockIdx.y * tile + cuda.threadIdx.y
        for j in range(0, tile, rows):
            part[cuda.threadIdx.y + j, cuda.threadIdx.x] = a[y + j, x]
        cuda.syncthreads()
        x = cuda.blockIdx.y * tile + cuda.threadIdx.x
        y = cuda.blockIdx.x * tile + cuda.threadIdx.y
        for j in range(0, tile, rows):
            out[y + j, x] = part[cuda.threadIdx.x, cuda.threadIdx.y + j]

    a = np.arange(1024 * 1024, dtype=np.float32).reshape(1024, 1024)
    source, out = cuda.to_device(a), cuda.device_array_like(a)
    grid = (1024 // tile, 1024 // tile), (tile, rows)
    for name, kernel in [("naive", naive), ("tiled", tiled)]:
        show(f"transpose: {name}", on_gpu(lambda: kernel[grid](source, out), 200))
        assert (out.copy_to_host() == a.T).all()


def increment():
    @cuda.jit
    def add(data, value):
        i = cuda.grid(1)
        data[i] = data[i] + value

    n, threads, stream = 16 << 20, 512, cuda.stream()
    host = cuda.pinned_array(n, dtype=np.int32)
    host[:] = 0
    data = cuda.device_array_like(host, stream)
    add[n // threads, threads, stream](data, 0)
    for _ in range(3):
        cuda.synchronize()
        start, stop = cuda.event(), cuda.event()
        begun = time.perf_counter()
        start.record(stream=stream)
        data.copy_to_device(host, stream=stream)
        add[n // threads, threads, stream](data, 26)
        data.copy_to_host(host, stream=stream)
        stop.record(stream=stream)
        queued = time.perf_counter() - begun
        stop.synchronize()
        on_device = start.elapsed_time(stop) / 1e3
    show("increment: GPU, by events", on_device)
    show("increment: host, until all is queued", queued)


def first_call():
    @njit
    def sum_of_tanh(a):
        trace = 0.0
        for i in range(a.shape[0]):
            trace += np.tanh(a[i, i])
        return a + trace

    x = np.arange(4096).astype(np.float64).reshape(64, 64)
    show("first call: numba.njit", seconds(lambda: sum_of_tanh(x), 1))
    show("later call: numba.njit", seconds(lambda: sum_of_tanh(x), 5))
    if not cuda.is_available():
        return

    @cuda.jit
    def add_one(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] += 1

    a = cuda.to_device(np.zeros(4096))

    def call():
        add_one[32, 128](a)
        cuda.synchronize()

    show("first call: cuda.jit", seconds(call, 1))
    show("later call: cuda.jit", seconds(call, 20))


def arithmetic():
    """A chain of multiplications and additions in each of many threads, of either type."""
    times = {}
    for number in (float32, float64):

        @cuda.jit
        def chain(x, factor, n):
            i = cuda.grid(1)
            a = x[i]
            b = a
            for _ in range(n):
                a = a * factor + a
                b = b * factor + b
            x[i] = a + b

        x = cuda.to_device(np.ones(1 << 20, str(number)))
        factor = np.dtype(str(number)).type(-0.5)
        times[number] = on_gpu(lambda: chain[1 << 12, 256](x, factor, 4096), 3)
        show(f"arithmetic: {number}", times[number])
    print(f"arithmetic: float64 takes {times[float64] / times[float32]:.2f} of the time of float32")


def registers():
    def of(kernel, *args):
        kernel[1, 1](*args)
        return next(iter(kernel.get_regs_per_thread().values()))

    def widening(x, y):
        x[0] += y[0] + 2.0

    def narrow(x, y):
        x[0] += y[0] + float32(2.0)

    def loop(x, y, a):
        a = y[0]
        b = 2.0
        c = y[1] / 6
        d = y[2] % 8
        e = y[3] * y[4]
        for _ in range(a):
            a += 2
            b -= c
            e *= d
            x[0] += a * b + c * d - e

    def indices_of_64_bits(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            for j in range(3):
                x[i, j] = (i * 2) + (j * 3)

    def indices_of_32_bits(x):
        i = cuda.grid(1)
        if i < int32(x.shape[0]):
            for j in range(int32(3)):
                x[i, j] = int32(int32(int32(i) * int32(2)) + int32(int32(j) * int32(3)))

    rows = np.zeros((1024, 3), np.int32)
    print(f"registers: indices of 64 bits {of(cuda.jit(indices_of_64_bits), rows)}, of 32 bits {of(cuda.jit(indices_of_32_bits), rows)}")
    x, y = np.zeros(1, np.float32), np.ones(5, np.float32)
    print(f"registers: float64 constant {of(cuda.jit(widening), x, y)}, float32 constant {of(cuda.jit(narrow), x, y)}")
    y = np.ones(5, np.int32)
    limits = {limit: of(cuda.jit(max_registers=limit)(loop), x, y, 1) for limit in [None, 24, 20]}
    print(f"registers: by max_registers {limits}")


def main():
    mandelbrots()
    primes()
    first_call()
    if cuda.is_available():
        transposes()
        increment()
        arithmetic()
        registers()
    else:
        print("not measured: transposes, increment, arithmetic and registers, because there is no GPU")


if __name__ == "__main__":
    main()
