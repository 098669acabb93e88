// What a CUDA programmer writes for the kernels in ../kernels/src/lib.rs. Built with `nvcc -O3`.

extern "C" __global__ void saxpy(float a, const float* __restrict__ x, size_t length, float* __restrict__ y)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        y[i] += a * x[i];
    }
}

struct View {
    float left, top, step;
};

static __device__ unsigned escape(View view, unsigned row, unsigned column, unsigned iterations)
{
    float x = view.left + column * view.step, y = view.top + row * view.step;
    float re = 0.0f, im = 0.0f;
    unsigned i = 0;
    while (i < iterations && re * re + im * im < 4.0f) {
        float next = re * re - im * im + x;
        im = 2.0f * re * im + y;
        re = next;
        ++i;
    }
    return i;
}

extern "C" __global__ void mandelbrot(
    View view, unsigned iterations, unsigned* __restrict__ pixels, unsigned rows, unsigned columns)
{
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        pixels[(size_t)row * columns + column] = escape(view, row, column, iterations);
    }
}
