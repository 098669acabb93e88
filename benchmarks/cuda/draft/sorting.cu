// The kernels of ../../kernels/src/draft/sorting.rs. Built with `nvcc -O3`.

#define ITEMS 512
#define POINTS 1024
#define FFT_THREADS (POINTS / 4)

extern "C" __global__ void __launch_bounds__(ITEMS) bitonic_sort(
    const unsigned* __restrict__ x, size_t length, unsigned* __restrict__ y)
{
    __shared__ unsigned items[ITEMS];
    unsigned me = threadIdx.x;
    size_t at = (size_t)blockIdx.x * blockDim.x + me;
    items[me] = at < length ? x[at] : ~0u;
    for (unsigned size = 2; size <= ITEMS; size *= 2) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            unsigned other = me ^ step;
            if (other > me) {
                unsigned a = items[me], b = items[other];
                if ((a > b) == ((me & size) == 0)) {
                    items[me] = b;
                    items[other] = a;
                }
            }
        }
    }
    __syncthreads();
    if (at < length) {
        y[at] = items[me];
    }
}

static __device__ float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static __device__ float2 add(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

static __device__ float2 subtract(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

extern "C" __global__ void __launch_bounds__(FFT_THREADS) fft_1024(
    const float2* __restrict__ x, size_t length, float2* __restrict__ y)
{
    __shared__ float2 points[POINTS];
    unsigned me = threadIdx.x;
    size_t first = (size_t)blockIdx.x * POINTS;
    float2 own[4];
    for (int i = 0; i < 4; ++i) {
        size_t at = first + me + i * FFT_THREADS;
        own[i] = at < length ? x[at] : make_float2(0, 0);
    }
    for (unsigned stride = 1; stride < POINTS; stride *= 4) {
        unsigned k = me % stride;
        for (int i = 0; i < 4; ++i) {
            float angle = -2.0f * 3.14159265358979f * (float)(i * k) / (float)(4 * stride);
            own[i] = times(own[i], make_float2(cosf(angle), sinf(angle)));
        }
        float2 a = add(own[0], own[2]), b = subtract(own[0], own[2]), c = add(own[1], own[3]), d = subtract(own[1], own[3]);
        d = make_float2(d.y, -d.x);
        float2 results[4] = {add(a, c), add(b, d), subtract(a, c), subtract(b, d)};
        __syncthreads();
        for (int i = 0; i < 4; ++i) {
            points[(me - k) * 4 + k + i * stride] = results[i];
        }
        __syncthreads();
        for (int i = 0; i < 4; ++i) {
            own[i] = points[me + i * FFT_THREADS];
        }
    }
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        size_t at = first + me + i * FFT_THREADS;
        if (at < length) {
            y[at] = points[me + i * FFT_THREADS];
        }
    }
}
