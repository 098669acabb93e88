"""The functions of benches/gpu/arrays.rs by Numba's `@vectorize`, on a GPU and on the CPU (`target='parallel'`).

    python3 benchmarks/numba/vectorize.py

Prints the time of a call with arrays that are on the device already, and `out=`: on the GPU by events around many calls, on the CPU the median of calls.
"""

import math
import statistics
import time

import numba
import numpy as np
from numba import cuda, float32, njit, vectorize

ELEMENTS = [1 << 20, 1 << 26]


def squared_sum(a, b):
    return (a + b) * (a + b)


def gaussian_pdf(x, mean, sigma):
    z = (x - mean) / sigma
    return math.exp(float32(-0.5) * z * z) / (sigma * float32(2.5066283))


def call_price(spot, strike, years, rate, volatility):
    deviation = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + float32(0.5) * volatility * volatility) * years) / deviation
    return spot * cumulative_normal(d1) - strike * math.exp(-rate * years) * cumulative_normal(d1 - deviation)


def normal(x):
    k = float32(1) / (float32(1) + float32(0.2316419) * math.fabs(x))
    p = float32(1.7814779) + k * (float32(-1.8212559) + k * float32(1.3302745))
    p = k * (float32(0.31938154) + k * (float32(-0.35656378) + k * p))
    tail = float32(0.3989423) * math.exp(float32(-0.5) * x * x) * p
    return float32(1) - tail if x > float32(0) else tail


def signature(inputs):
    return f"float32({', '.join(['float32'] * inputs)})"


# Arrays and scalars of each function.
FUNCTIONS = [(squared_sum, 2, []), (gaussian_pdf, 1, [0.5, 2.0]), (call_price, 3, [0.02, 0.3])]


def on_gpu(function, arrays, scalars):
    """Seconds of a call."""
    out = cuda.device_array_like(arrays[0])
    call = lambda: function(*arrays, *scalars, out=out)
    for _ in range(3):
        call()
    times = []
    for _ in range(10):
        calls = 20
        start, end = cuda.event(), cuda.event()
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        times.append(cuda.event_elapsed_time(start, end) / 1e3 / calls)
    return statistics.median(times), out.copy_to_host()


def on_cpu(function, arrays, scalars):
    """Seconds of a call."""
    out = np.empty_like(arrays[0])
    function(*arrays, *scalars, out=out)
    times = []
    for _ in range(15):
        start = time.perf_counter()
        function(*arrays, *scalars, out=out)
        times.append(time.perf_counter() - start)
    return statistics.median(times), out


def main():
    global cumulative_normal
    print(f"{'function':14} {'elements':>10} {'target':9} {'time':>12} {'bandwidth':>12}")
    for function, inputs, scalars in FUNCTIONS:
        scalars = [np.float32(scalar) for scalar in scalars]
        for target in ["cuda", "parallel"]:
            if target == "cuda" and not cuda.is_available():
                print(f"{function.__name__:14} {'':10} {target:9} not measured: there is no GPU")
                continue
            # What a function calls is compiled for its target, too.
            if target == "cuda":
                cumulative_normal = cuda.jit(device=True)(normal)
            else:
                cumulative_normal = njit(normal)
            ufunc = vectorize([signature(inputs + len(scalars))], target=target)(function)
            for elements in ELEMENTS:
                noise = np.random.default_rng(1).random(elements, dtype=np.float32)
                arrays = [(input + 1 + 9 * noise).astype(np.float32) for input in range(inputs)]
                if target == "cuda":
                    seconds, out = on_gpu(ufunc, [cuda.to_device(array) for array in arrays], scalars)
                else:
                    seconds, out = on_cpu(ufunc, arrays, scalars)
                assert np.isfinite(out).all()
                rate = (inputs + 1) * elements * 4 / seconds / 1e9
                print(f"{function.__name__:14} {elements:>10} {target:9} {seconds * 1e6:>9.2f} µs {rate:>7.1f} GB/s")
    print(f"Numba {numba.__version__}; parallel: {numba.threading_layer()}, {numba.get_num_threads()} threads")


if __name__ == "__main__":
    main()
