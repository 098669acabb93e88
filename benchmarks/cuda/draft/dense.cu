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

#define BLOCK 128
#define DEPTH 8
#define SIDE 16
#define EACH (BLOCK / SIDE)

extern "C" __global__ void __launch_bounds__(SIDE * SIDE) sgemm(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned inner,
    unsigned columns)
{
    __shared__ float a_tile[BLOCK][DEPTH], b_tile[DEPTH][BLOCK];
    unsigned row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK;
    float sums[EACH][EACH] = {};
    for (unsigned first = 0; first < inner; first += DEPTH) {
        for (unsigned n = threadIdx.y * SIDE + threadIdx.x; n < BLOCK * DEPTH; n += SIDE * SIDE) {
            unsigned i = row + n / DEPTH, k = first + n % DEPTH;
            a_tile[n / DEPTH][n % DEPTH] = i < rows && k < inner ? a[(size_t)i * inner + k] : 0.0f;
        }
        for (unsigned n = threadIdx.y * SIDE + threadIdx.x; n < DEPTH * BLOCK; n += SIDE * SIDE) {
            unsigned k = first + n / BLOCK, j = column + n % BLOCK;
            b_tile[n / BLOCK][n % BLOCK] = k < inner && j < columns ? b[(size_t)k * columns + j] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            float from_a[EACH], from_b[EACH];
            for (int i = 0; i < EACH; ++i) {
                from_a[i] = a_tile[threadIdx.y + i * SIDE][k];
                from_b[i] = b_tile[k][threadIdx.x + i * SIDE];
            }
            for (int i = 0; i < EACH; ++i) {
                for (int j = 0; j < EACH; ++j) {
                    sums[i][j] += from_a[i] * from_b[j];
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            unsigned at_row = row + threadIdx.y + i * SIDE, at_column = column + threadIdx.x + j * SIDE;
            if (at_row < rows && at_column < columns) {
                c[(size_t)at_row * columns + at_column] = sums[i][j];
            }
        }
    }
}
