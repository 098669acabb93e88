// The kernels of ../../kernels/src/draft/streams.rs. Built with `nvcc -O3`.

#define SCALAR 0.4
#define THREADS 1024

extern "C" __global__ void copy(const double* __restrict__ a, double* __restrict__ c, size_t length)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        c[i] = a[i];
    }
}

extern "C" __global__ void multiply(double* __restrict__ b, const double* __restrict__ c, size_t length)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        b[i] = SCALAR * c[i];
    }
}

extern "C" __global__ void add(
    const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c, size_t length)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        c[i] = a[i] + b[i];
    }
}

extern "C" __global__ void triad(
    double* __restrict__ a, const double* __restrict__ b, const double* __restrict__ c, size_t length)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        a[i] = b[i] + SCALAR * c[i];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) dot(
    const double* __restrict__ a, const double* __restrict__ b, size_t length, double* __restrict__ sums)
{
    __shared__ double parts[THREADS];
    double sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < length; i += (size_t)blockDim.x * gridDim.x) {
        sum += a[i] * b[i];
    }
    parts[threadIdx.x] = sum;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) {
            parts[threadIdx.x] += parts[threadIdx.x + step];
        }
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = parts[0];
    }
}

extern "C" __global__ void __launch_bounds__(256) histogram(
    const unsigned char* __restrict__ values, size_t length, unsigned* bins)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < length; i += (size_t)blockDim.x * gridDim.x) {
        atomicAdd(&counts[values[i]], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

extern "C" __global__ void __launch_bounds__(256) scatter_add(
    const unsigned* __restrict__ places, const float* __restrict__ values, size_t length, float* sums)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < length; i += (size_t)blockDim.x * gridDim.x) {
        atomicAdd(&sums[places[i]], values[i]);
    }
}
