// The kernels of ../../kernels/src/draft/rows.rs. Built with `nvcc -O3`.

#include <math_constants.h>

#define THREADS 256

static __device__ float warp_sum(float value)
{
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(~0u, value, step);
    }
    return value;
}

static __device__ float warp_max(float value)
{
    for (int step = 16; step > 0; step /= 2) {
        value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
    }
    return value;
}

static __device__ float block_sum(float value)
{
    __shared__ float parts[THREADS / 32];
    value = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = 0;
    for (int i = 0; i < THREADS / 32; ++i) {
        value += parts[i];
    }
    return value;
}

static __device__ float block_max(float value)
{
    __shared__ float parts[THREADS / 32];
    value = warp_max(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = -CUDART_INF_F;
    for (int i = 0; i < THREADS / 32; ++i) {
        value = fmaxf(value, parts[i]);
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS) softmax(
    unsigned columns, const float* __restrict__ x, float* __restrict__ y)
{
    const float* row = x + (size_t)blockIdx.x * columns;
    float largest = -CUDART_INF_F;
    for (unsigned i = threadIdx.x; i < columns; i += THREADS) {
        largest = fmaxf(largest, row[i]);
    }
    largest = block_max(largest);
    float sum = 0;
    for (unsigned i = threadIdx.x; i < columns; i += THREADS) {
        sum += expf(row[i] - largest);
    }
    sum = block_sum(sum);
    for (unsigned i = threadIdx.x; i < columns; i += THREADS) {
        y[(size_t)blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) layer_norm(
    unsigned columns, const float* __restrict__ x, const float* __restrict__ scale, const float* __restrict__ offset,
    float* __restrict__ y)
{
    const float* row = x + (size_t)blockIdx.x * columns;
    float sum = 0;
    for (unsigned i = threadIdx.x; i < columns; i += THREADS) {
        sum += row[i];
    }
    float mean = block_sum(sum) / columns;
    float squares = 0;
    for (unsigned i = threadIdx.x; i < columns; i += THREADS) {
        squares += (row[i] - mean) * (row[i] - mean);
    }
    float factor = rsqrtf(block_sum(squares) / columns + 1e-5f);
    for (unsigned i = threadIdx.x; i < columns; i += THREADS) {
        y[(size_t)blockIdx.x * columns + i] = (row[i] - mean) * factor * scale[i] + offset[i];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) sparse_product(
    const unsigned* __restrict__ starts, unsigned rows, const unsigned* __restrict__ columns,
    const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y)
{
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    float sum = 0;
    for (unsigned i = starts[row] + lane; i < starts[row + 1]; i += 32) {
        sum += values[i] * x[columns[i]];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        y[row] = sum;
    }
}
