// The kernels of ../../kernels/src/draft/grids.rs. Built with `nvcc -O3`.

template <class T>
static __device__ void stencil(
    T centre, T side, const T* __restrict__ from, T* __restrict__ to, unsigned layers, unsigned rows, unsigned columns)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned j = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= columns || j >= rows || k >= layers) {
        return;
    }
    size_t at = ((size_t)k * rows + j) * columns + i;
    if (k > 0 && k < layers - 1 && j > 0 && j < rows - 1 && i > 0 && i < columns - 1) {
        T around = from[at - (size_t)rows * columns] + from[at + (size_t)rows * columns] + from[at - columns]
            + from[at + columns] + from[at - 1] + from[at + 1];
        to[at] = centre * from[at] + side * around;
    } else {
        to[at] = from[at];
    }
}

extern "C" __global__ void __launch_bounds__(256) stencil_f32(
    float centre, float side, const float* __restrict__ from, float* __restrict__ to, unsigned layers, unsigned rows,
    unsigned columns)
{
    stencil(centre, side, from, to, layers, rows, columns);
}

extern "C" __global__ void __launch_bounds__(256) stencil_f64(
    double centre, double side, const double* __restrict__ from, double* __restrict__ to, unsigned layers, unsigned rows,
    unsigned columns)
{
    stencil(centre, side, from, to, layers, rows, columns);
}

extern "C" __global__ void __launch_bounds__(256) jacobi(
    const float* __restrict__ from, float* __restrict__ to, unsigned rows, unsigned columns)
{
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row > 0 && row + 1 < rows && column > 0 && column + 1 < columns) {
        size_t at = (size_t)row * columns + column;
        to[at] = 0.25f * (from[at - columns] + from[at + columns] + from[at - 1] + from[at + 1]);
    }
}

#define FILTER 5

extern "C" __global__ void __launch_bounds__(256) convolution(
    const float* __restrict__ image, const float* __restrict__ filter, float* __restrict__ to, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) {
        return;
    }
    float sum = 0;
    for (int i = 0; i < FILTER; ++i) {
        for (int j = 0; j < FILTER; ++j) {
            int y = row + i - FILTER / 2, x = column + j - FILTER / 2;
            float pixel = y >= 0 && y < rows && x >= 0 && x < columns ? image[(size_t)y * columns + x] : 0.0f;
            sum += pixel * filter[i * FILTER + j];
        }
    }
    to[(size_t)row * columns + column] = sum;
}

extern "C" __global__ void __launch_bounds__(256) lattice_boltzmann(
    float omega, const float* __restrict__ from, float* __restrict__ to, unsigned rows, unsigned columns)
{
    size_t plane = (size_t)rows * columns;
    const int xs[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ys[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float weights[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) {
        return;
    }
    float f[9], density = 0, ux = 0, uy = 0;
    for (int q = 0; q < 9; ++q) {
        unsigned y = (row + rows - ys[q]) % rows, x = (column + columns - xs[q]) % columns;
        f[q] = from[q * plane + (size_t)y * columns + x];
        density += f[q];
        ux += f[q] * xs[q];
        uy += f[q] * ys[q];
    }
    ux /= density;
    uy /= density;
    float square = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < 9; ++q) {
        float along = 3.0f * (xs[q] * ux + ys[q] * uy);
        float equilibrium = weights[q] * density * (1.0f + along + 0.5f * along * along - square);
        to[q * plane + (size_t)row * columns + column] = f[q] + omega * (equilibrium - f[q]);
    }
}
