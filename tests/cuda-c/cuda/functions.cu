// Functions that take and return what C has.
#include "functions.h"

__constant__ float TABLE[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__device__ const int SQUARES[5] = {0, 1, 4, 9, 16};

extern "C" {

__device__ int add_small(signed char a, unsigned char b, short c, unsigned short d) {
    return a + b + c + d;
}

__device__ signed char negated(signed char a) {
    return -a;
}

__device__ bool flipped(bool x) {
    return !x;
}

__device__ unsigned long long widened(unsigned a, long long b) {
    return a * (unsigned long long)b;
}

__device__ double mixed(float a, double b) {
    return a + b;
}

__device__ One one(One x) {
    return One{x.value + 1.0f};
}

__device__ Odd odd(Odd x) {
    return Odd{(char)(x.letter + 1), x.number * 2.0, (short)(x.count - 1)};
}

__device__ int sum_of_large(Large x) {
    int sum = 0;
    for (int i = 0; i < 20; i++) sum += x.numbers[i];
    return sum;
}

__device__ Large large(int first) {
    Large x;
    for (int i = 0; i < 20; i++) x.numbers[i] = first + i;
    return x;
}

__device__ float4 scaled(float4 v, float by) {
    return make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
}

__device__ void divided(int a, int b, int *quotient, int *remainder) {
    *quotient = a / b;
    *remainder = a % b;
}

__device__ float entry(int i) {
    return TABLE[i & 3];
}

__device__ int square(int i) {
    return SQUARES[i % 5];
}

__device__ int through_helper(int x) {
    return helper(x) + 1;
}

// The place of the thread: built-ins of CUDA.
__device__ unsigned place() {
    return threadIdx.x + 1000 * blockIdx.x + 1000000 * blockDim.x * gridDim.x;
}

// All threads of the block add before any of them looks.
__device__ unsigned met(unsigned *counter) {
    atomicAdd(counter, 1u);
    __syncthreads();
    return atomicAdd(counter, 0u);
}

}  // extern "C"
