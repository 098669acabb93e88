// The kernels of ../../kernels/src/draft/dense.rs. Built with `nvcc -O3`.

#include <math_constants.h>

#define TILE 32
#define STEP 8

template <class Next>
static __device__ void product_of(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned inner,
    unsigned columns, float start, Next next)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    unsigned i = threadIdx.y, j = threadIdx.x, row = blockIdx.y * TILE + i, column = blockIdx.x * TILE + j;
    float sum = start;
    for (unsigned first = 0; first < inner; first += TILE) {
        a_tile[i][j] = row < rows && first + j < inner ? a[(size_t)row * inner + first + j] : start;
        b_tile[i][j] = first + i < inner && column < columns ? b[(size_t)(first + i) * columns + column] : start;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum = next(sum, a_tile[i][k], b_tile[k][j]);
        }
        __syncthreads();
    }
    if (row < rows && column < columns) {
        c[(size_t)row * columns + column] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(1024) product(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned inner,
    unsigned columns)
{
    product_of(a, b, c, rows, inner, columns, 0.0f, [](float sum, float a, float b) { return sum + a * b; });
}

extern "C" __global__ void __launch_bounds__(1024) min_plus(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned inner,
    unsigned columns)
{
    product_of(a, b, c, rows, inner, columns, CUDART_INF_F, [](float sum, float a, float b) { return fminf(sum, a + b); });
}

extern "C" __global__ void __launch_bounds__(256) transpose(
    const float* __restrict__ from, float* __restrict__ to, unsigned rows, unsigned columns)
{
    __shared__ float part[TILE][TILE + 1];
    unsigned row = blockIdx.x * TILE, column = blockIdx.y * TILE;
    for (unsigned i = threadIdx.y; i < TILE; i += STEP) {
        unsigned y = row + i, x = column + threadIdx.x;
        part[i][threadIdx.x] = y < rows && x < columns ? from[(size_t)y * columns + x] : 0.0f;
    }
    __syncthreads();
    for (unsigned i = threadIdx.y; i < TILE; i += STEP) {
        unsigned y = column + i, x = row + threadIdx.x;
        if (y < columns && x < rows) {
            to[(size_t)y * rows + x] = part[threadIdx.x][i];
        }
    }
}
