// CUB's reduction of a block, a template, behind a function that C can name.
#include "block_sum.h"

#include <cub/block/block_reduce.cuh>

extern "C" __device__ float block_sum(float value) {
    using Reduce = cub::BlockReduce<float, BLOCK_SUM_THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    // As another call may still use it.
    __syncthreads();
    return Reduce(storage).Sum(value);
}
