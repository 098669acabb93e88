// Device-wide algorithms of CUB and Thrust, which `gpukernel-algorithms` is compared with: a library for the host, built with `nvcc -O3 -shared`; the headers come
// with nvcc.
//
// Each function is called without memory first, to ask how many bytes it needs, and returns an error of CUDA's runtime.

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>

#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default"))) int

struct Workspace {
    void* memory;
    size_t* bytes;
    cudaStream_t stream;
};

// Lengths that need 64 bits make CUB's kernels slower, and few have them. `ArgMax` and `Select::If` have no others.
EXPORT sum_f32(Workspace workspace, const float* x, float* out, int64_t n)
{
    return cub::DeviceReduce::Sum(workspace.memory, *workspace.bytes, x, out, (int)n, workspace.stream);
}

EXPORT sum_f64(Workspace workspace, const double* x, double* out, int64_t n)
{
    return cub::DeviceReduce::Sum(workspace.memory, *workspace.bytes, x, out, (int)n, workspace.stream);
}

EXPORT min_f32(Workspace workspace, const float* x, float* out, int64_t n)
{
    return cub::DeviceReduce::Min(workspace.memory, *workspace.bytes, x, out, (int)n, workspace.stream);
}

EXPORT arg_max_f32(Workspace workspace, const float* x, float* max, uint64_t* position, int64_t n)
{
    return cub::DeviceReduce::ArgMax(workspace.memory, *workspace.bytes, x, max, position, n, workspace.stream);
}

EXPORT reduce_by_key_u32_f32(
    Workspace workspace, const uint32_t* keys, uint32_t* keys_out, const float* values, float* values_out, uint64_t* count, int64_t n)
{
    return cub::DeviceReduce::ReduceByKey(
        workspace.memory, *workspace.bytes, keys, keys_out, values, values_out, count, cuda::std::plus<float>(), (int)n, workspace.stream);
}

EXPORT scan_u32(Workspace workspace, const uint32_t* x, uint32_t* out, int64_t n)
{
    return cub::DeviceScan::InclusiveSum(workspace.memory, *workspace.bytes, x, out, (int)n, workspace.stream);
}

EXPORT exclusive_scan_u32(Workspace workspace, const uint32_t* x, uint32_t* out, int64_t n)
{
    return cub::DeviceScan::ExclusiveSum(workspace.memory, *workspace.bytes, x, out, (int)n, workspace.stream);
}

EXPORT scan_f32(Workspace workspace, const float* x, float* out, int64_t n)
{
    return cub::DeviceScan::InclusiveSum(workspace.memory, *workspace.bytes, x, out, (int)n, workspace.stream);
}

EXPORT scan_f64(Workspace workspace, const double* x, double* out, int64_t n)
{
    return cub::DeviceScan::InclusiveSum(workspace.memory, *workspace.bytes, x, out, (int)n, workspace.stream);
}

EXPORT sort_u32(Workspace workspace, const uint32_t* x, uint32_t* out, int64_t n)
{
    return cub::DeviceRadixSort::SortKeys(workspace.memory, *workspace.bytes, x, out, (int)n, 0, 32, workspace.stream);
}

EXPORT sort_u64(Workspace workspace, const uint64_t* x, uint64_t* out, int64_t n)
{
    return cub::DeviceRadixSort::SortKeys(workspace.memory, *workspace.bytes, x, out, (int)n, 0, 64, workspace.stream);
}

// Sorts in place what it copies first. The other half of the double buffer is the first part of the memory.
EXPORT sort_descending_u32(Workspace workspace, const uint32_t* x, uint32_t* sorted, int64_t n)
{
    return cub::DeviceRadixSort::SortKeysDescending(workspace.memory, *workspace.bytes, x, sorted, (int)n, 0, 32, workspace.stream);
}

EXPORT sort_pairs_u32(
    Workspace workspace, const uint32_t* keys, uint32_t* keys_out, const uint32_t* values, uint32_t* values_out, int64_t n)
{
    return cub::DeviceRadixSort::SortPairs(workspace.memory, *workspace.bytes, keys, keys_out, values, values_out, (int)n, 0, 32, workspace.stream);
}

EXPORT select_u32(Workspace workspace, const uint32_t* x, const uint8_t* flags, uint32_t* out, uint64_t* count, int64_t n)
{
    return cub::DeviceSelect::Flagged(workspace.memory, *workspace.bytes, x, flags, out, count, (int)n, workspace.stream);
}

EXPORT partition_u32(Workspace workspace, const uint32_t* x, const uint8_t* flags, uint32_t* out, uint64_t* count, int64_t n)
{
    return cub::DevicePartition::Flagged(workspace.memory, *workspace.bytes, x, flags, out, count, (int)n, workspace.stream);
}

// As in kernels/src/select.rs.
struct Below {
    uint32_t limit;

    __device__ bool operator()(uint32_t x) const
    {
        return x < limit;
    }
};

EXPORT select_if_u32(Workspace workspace, const uint32_t* x, uint32_t* out, uint64_t* count, int64_t n)
{
    return cub::DeviceSelect::If(workspace.memory, *workspace.bytes, x, out, count, n, Below{1u << 31}, workspace.stream);
}

EXPORT unique_u32(Workspace workspace, const uint32_t* x, uint32_t* out, uint64_t* count, int64_t n)
{
    return cub::DeviceSelect::Unique(workspace.memory, *workspace.bytes, x, out, count, (int)n, workspace.stream);
}

EXPORT histogram_u8(Workspace workspace, const uint8_t* x, unsigned long long* counts, int64_t n)
{
    return cub::DeviceHistogram::HistogramEven(workspace.memory, *workspace.bytes, x, counts, 256, 0, 255, (int)n, workspace.stream);
}

EXPORT histogram_i32(Workspace workspace, const int32_t* x, unsigned long long* counts, int64_t n)
{
    return cub::DeviceHistogram::HistogramEven(workspace.memory, *workspace.bytes, x, counts, 257, -1000000, 1000000, (int)n, workspace.stream);
}

EXPORT histogram_f32(Workspace workspace, const float* x, unsigned long long* counts, int64_t n)
{
    return cub::DeviceHistogram::HistogramEven(workspace.memory, *workspace.bytes, x, counts, 257, -1.0f, 1.0f, (int)n, workspace.stream);
}

// Thrust allocates nothing here. Of another execution policy, it would wait.
EXPORT lower_bound_u32(Workspace workspace, const uint32_t* keys, const uint32_t* needles, uint64_t* positions, int64_t n)
{
    if (workspace.memory == nullptr) {
        *workspace.bytes = 1;
        return cudaSuccess;
    }
    try {
        thrust::lower_bound(thrust::cuda::par_nosync.on(workspace.stream), keys, keys + n, needles, needles + n, positions);
    } catch (...) {
        return cudaErrorUnknown;
    }
    return cudaGetLastError();
}
