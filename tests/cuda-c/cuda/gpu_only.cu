// What the CPU device does not have: the memory of the block, and operations of its warps.

extern "C" __device__ int block_max(int value) {
    __shared__ int of_warps[32];
    for (int step = 16; step > 0; step /= 2) {
        value = max(value, __shfl_xor_sync(0xffffffffu, value, step));
    }
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    for (int warp = 0; warp < (blockDim.x + 31) / 32; warp++) {
        value = max(value, of_warps[warp]);
    }
    return value;
}
