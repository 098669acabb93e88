// What a CUDA programmer writes for the kernel in ../kernels/src/tensor.rs: the same tiles, copies and instructions. Extents are multiples
// of the tiles.

#include <cuda_fp16.h>
#include <stdint.h>

constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 32, PAD = 8;

#if __CUDA_ARCH__ >= 800
static __device__ uint32_t shared_address(const void* p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ void copy_16(void* to, const void* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

static __device__ void fetch(
    __half (*a)[DEPTH + PAD], __half (*b)[COLUMNS + PAD], const __half* from_a, const __half* from_b,
    unsigned a_columns, unsigned b_columns, unsigned rank)
{
#pragma unroll
    for (unsigned i = rank; i < ROWS * DEPTH / 8; i += 256) {
        unsigned row = i / (DEPTH / 8), column = i % (DEPTH / 8) * 8;
        copy_16(&a[row][column], from_a + (size_t)row * a_columns + column);
    }
#pragma unroll
    for (unsigned i = rank; i < DEPTH * COLUMNS / 8; i += 256) {
        unsigned row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
        copy_16(&b[row][column], from_b + (size_t)row * b_columns + column);
    }
    asm volatile("cp.async.commit_group;");
}
#endif

extern "C" __global__ void __launch_bounds__(256)
    gemm_f16(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c, unsigned rows,
             unsigned columns, unsigned depth)
{
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(16) __half part_a[2][ROWS][DEPTH + PAD];
    __shared__ __align__(16) __half part_b[2][DEPTH][COLUMNS + PAD];
    unsigned lane = threadIdx.x, rank = lane + 32 * (threadIdx.y + 4 * threadIdx.z);
    unsigned warp_row = threadIdx.z * 64, warp_column = threadIdx.y * 32;
    const __half* from_a = a + (size_t)blockIdx.y * ROWS * depth;
    const __half* from_b = b + (size_t)blockIdx.x * COLUMNS;
    float sums[4][4][4] = {};
    fetch(part_a[0], part_b[0], from_a, from_b, depth, columns, rank);
    unsigned rounds = depth / DEPTH;
    for (unsigned round = 0; round < rounds; ++round) {
        unsigned stage = round % 2;
        asm volatile("cp.async.wait_group 0;");
        __syncthreads();
        if (round + 1 < rounds) {
            fetch(part_a[1 - stage], part_b[1 - stage], from_a + (round + 1) * DEPTH,
                  from_b + (size_t)(round + 1) * DEPTH * columns, depth, columns, rank);
        }
#pragma unroll
        for (unsigned k = 0; k < DEPTH; k += 16) {
            uint32_t right[4][2];
#pragma unroll
            for (unsigned n = 0; n < 2; ++n) {
                uint32_t address =
                    shared_address(&part_b[stage][k + lane % 16][warp_column + 16 * n + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(right[2 * n][0]), "=r"(right[2 * n][1]), "=r"(right[2 * n + 1][0]),
                               "=r"(right[2 * n + 1][1])
                             : "r"(address));
            }
#pragma unroll
            for (unsigned m = 0; m < 4; ++m) {
                uint32_t left[4];
                uint32_t address = shared_address(&part_a[stage][warp_row + 16 * m + lane % 16][k + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3])
                             : "r"(address));
#pragma unroll
                for (unsigned n = 0; n < 4; ++n) {
                    float* d = sums[m][n];
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[n][0]),
                                   "r"(right[n][1]));
                }
            }
        }
    }
#pragma unroll
    for (unsigned m = 0; m < 4; ++m) {
#pragma unroll
        for (unsigned n = 0; n < 4; ++n) {
            unsigned row = blockIdx.y * ROWS + warp_row + 16 * m + lane / 4;
            unsigned column = blockIdx.x * COLUMNS + warp_column + 8 * n + lane % 4 * 2;
            *(float2*)&c[(size_t)row * columns + column] = make_float2(sums[m][n][0], sums[m][n][1]);
            *(float2*)&c[(size_t)(row + 8) * columns + column] = make_float2(sums[m][n][2], sums[m][n][3]);
        }
    }
#endif
}
