// CUB's block algorithms for the kernels in ../kernels/src/block.rs. Built with `nvcc -O3`; the headers come with nvcc.
//
// Each round works on what the round before left in registers, so that the algorithm is measured and not memory. Two
// storages in turn need one barrier per round, the fewest that CUB's users can get by with.

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

constexpr int THREADS = 256;

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

static __device__ float next(float x) { return x * 0.5f + 1.0f; }
static __device__ int next(int x) { return x * 3 + 1; }
static __device__ unsigned next(unsigned x) { return x * 1664525u + 1013904223u; }

// What a scan left, made small enough for the next.
static __device__ float shrink(float x) { return x * 0.001f; }
static __device__ int shrink(int x) { return x; }

template <typename T, int ITEMS>
static __device__ void load(const T* x, T (&items)[ITEMS])
{
    size_t first = ((size_t)blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (int k = 0; k < ITEMS; ++k) items[k] = x[first + k];
}

template <typename T, int ITEMS>
static __device__ void store(T* y, const T (&items)[ITEMS])
{
    size_t first = ((size_t)blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (int k = 0; k < ITEMS; ++k) y[first + k] = items[k];
}

template <typename T, int ITEMS, typename Op>
static __device__ void reduce(const T* __restrict__ x, unsigned rounds, T* __restrict__ y, Op op)
{
    using Reduce = cub::BlockReduce<T, THREADS, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    __shared__ typename Reduce::TempStorage storage[2];
    T items[ITEMS], total = T();
    load(x, items);
    for (unsigned round = 0; round < rounds; ++round) {
        T result = Reduce(storage[round % 2]).Reduce(items, op);
        if (threadIdx.x == 0) total = op(total, result);
        for (int k = 0; k < ITEMS; ++k) items[k] = next(items[k]);
    }
    if (threadIdx.x == 0) y[blockIdx.x] = total;
}

template <typename T, int ITEMS>
static __device__ void inclusive(const T* __restrict__ x, unsigned rounds, T* __restrict__ y)
{
    using Scan = cub::BlockScan<T, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage storage[2];
    T items[ITEMS];
    load(x, items);
    for (unsigned round = 0; round < rounds; ++round) {
        Scan(storage[round % 2]).InclusiveSum(items, items);
        for (int k = 0; k < ITEMS; ++k) items[k] = shrink(items[k]);
    }
    store(y, items);
}

template <typename T, int ITEMS>
static __device__ void exclusive(const T* __restrict__ x, unsigned rounds, T* __restrict__ y)
{
    using Scan = cub::BlockScan<T, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage storage[2];
    T items[ITEMS];
    load(x, items);
    for (unsigned round = 0; round < rounds; ++round) {
        Scan(storage[round % 2]).ExclusiveSum(items, items);
        for (int k = 0; k < ITEMS; ++k) items[k] = shrink(items[k]) + T(1);
    }
    store(y, items);
}

template <int ITEMS>
static __device__ void sort(const unsigned* __restrict__ x, unsigned rounds, unsigned* __restrict__ y)
{
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage storage;
    unsigned items[ITEMS];
    load(x, items);
    for (unsigned round = 0; round < rounds; ++round) {
        __syncthreads();
        Sort(storage).Sort(items);
        for (int k = 0; k < ITEMS; ++k) items[k] = next(items[k]);
    }
    store(y, items);
}

#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS)

KERNEL reduce_f32_1(const float* x, unsigned rounds, float* y) { reduce<float, 1>(x, rounds, y, cuda::std::plus<>{}); }
KERNEL reduce_f32_4(const float* x, unsigned rounds, float* y) { reduce<float, 4>(x, rounds, y, cuda::std::plus<>{}); }
KERNEL reduce_i32_1(const int* x, unsigned rounds, int* y) { reduce<int, 1>(x, rounds, y, cuda::std::plus<>{}); }
KERNEL reduce_i32_4(const int* x, unsigned rounds, int* y) { reduce<int, 4>(x, rounds, y, cuda::std::plus<>{}); }
KERNEL reduce_max_f32_1(const float* x, unsigned rounds, float* y) { reduce<float, 1>(x, rounds, y, Max()); }
KERNEL inclusive_f32_1(const float* x, unsigned rounds, float* y) { inclusive<float, 1>(x, rounds, y); }
KERNEL inclusive_f32_4(const float* x, unsigned rounds, float* y) { inclusive<float, 4>(x, rounds, y); }
KERNEL inclusive_i32_1(const int* x, unsigned rounds, int* y) { inclusive<int, 1>(x, rounds, y); }
KERNEL inclusive_i32_4(const int* x, unsigned rounds, int* y) { inclusive<int, 4>(x, rounds, y); }
KERNEL exclusive_f32_4(const float* x, unsigned rounds, float* y) { exclusive<float, 4>(x, rounds, y); }
KERNEL exclusive_i32_4(const int* x, unsigned rounds, int* y) { exclusive<int, 4>(x, rounds, y); }
KERNEL sort_u32_4(const unsigned* x, unsigned rounds, unsigned* y) { sort<4>(x, rounds, y); }

// The sum of a large array in one kernel: the last block to come adds up what all left.
KERNEL sum_f32(const float* __restrict__ x, size_t length, float* parts, unsigned* arrived, float* result)
{
    using Reduce = cub::BlockReduce<float, THREADS, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ bool is_last;
    float sum = 0.0f;
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < length; i += gridDim.x * (size_t)THREADS) sum += x[i];
    sum = Reduce(storage).Sum(sum);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    sum = 0.0f;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += THREADS) sum += __ldcg(parts + i);
    sum = Reduce(storage).Sum(sum);
    if (threadIdx.x == 0) *result = sum;
}
