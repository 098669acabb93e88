"""The rows of `softmax` and `softmax_of_rows` of tests/pipelines/benches/pipelines.rs by PyTorch's `torch.softmax`, whose kernels are tuned by hand.

    python3 benchmarks/pytorch/softmax.py

Prints the time of a call into a tensor that is there, by events around replays of a CUDA graph of calls, so that no time of the host is in it.
"""

import statistics

import torch

ELEMENTS = 1 << 25
SHAPES = [(64, 1024), (32768, 1024)] + [
    (-(-(ELEMENTS // columns) // 4) * 4, columns)
    for columns in [10, 32, 77, 128, 160, 197, 577, 1000, 1001, 4096, 5001, 12288, 16384, 32768, 50257, 65536]
]


def seconds(call, calls):
    """Of a call, of which a graph has so many."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    graph.replay()
    times = []
    for _ in range(15):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3 / calls)
    return statistics.median(times)


def main():
    print(f"{'rows':>8} {'columns':>8} {'time':>12} {'bandwidth':>14}")
    for rows, columns in SHAPES:
        x = torch.arange(rows * columns, dtype=torch.float64, device="cuda").mul(0.1).sin().float().view(rows, columns)
        y = torch.empty_like(x)
        time = seconds(lambda: torch.softmax(x, 1, out=y), 100)
        assert torch.allclose(y.double().sum(1), torch.ones(rows, dtype=torch.float64, device="cuda"), atol=1e-4)
        rate = 2 * 4 * rows * columns / time / 1e9
        print(f"{rows:>8} {columns:>8} {time * 1e6:>9.2f} µs {rate:>9.1f} GB/s")
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")


if __name__ == "__main__":
    main()
