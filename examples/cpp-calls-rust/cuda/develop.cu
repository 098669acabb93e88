// A kernel in CUDA C++ that calls functions in Rust, by the header that gpukernel made of them.
#include "cpp_calls_rust_functions.h"

extern "C" __global__ void develop(const Rgb *film, Rgb *print, float *brightness, unsigned count, float exposure) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        print[i] = tone_mapped(film[i], exposure);
        brightness[i] = luminance(print[i]);
    }
}
