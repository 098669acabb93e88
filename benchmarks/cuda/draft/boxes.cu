// The kernels of ../../kernels/src/draft/boxes.rs. Built with `nvcc -O3`.

#define THREADS 128
#define PARTICLES 100
#define NEIGHBOURS 26

struct __align__(16) Position {
    float v, x, y, z;
};

struct __align__(16) Force {
    float v, x, y, z;
};

static __device__ void add(Force &sum, float a2, const Position &a, const Position &b, float charge)
{
    float r2 = a.v + b.v - (a.x * b.x + a.y * b.y + a.z * b.z);
    float potential = charge * expf(-(a2 * r2));
    float strength = 2 * potential;
    sum.v += potential;
    sum.x += strength * (a.x - b.x);
    sum.y += strength * (a.y - b.y);
    sum.z += strength * (a.z - b.z);
}

struct Neighbours {
    unsigned count, numbers[NEIGHBOURS];
};

// A block per box.
extern "C" __global__ void __launch_bounds__(THREADS) lava_md(
    float a2, const Neighbours* __restrict__ neighbours, const Position* __restrict__ positions,
    const float* __restrict__ charges, Force* __restrict__ forces)
{
    __shared__ Position position_tile[PARTICLES];
    __shared__ float charge_tile[PARTICLES];
    unsigned home = blockIdx.x, i = threadIdx.x;
    Position me = {0, 0, 0, 0};
    if (i < PARTICLES) {
        me = positions[home * PARTICLES + i];
    }
    const Neighbours &around = neighbours[home];
    unsigned count = around.count;
    Force sum = {0, 0, 0, 0};
    for (unsigned k = 0; k <= count; ++k) {
        unsigned other = k == 0 ? home : around.numbers[k - 1];
        if (i < PARTICLES) {
            position_tile[i] = positions[other * PARTICLES + i];
            charge_tile[i] = charges[other * PARTICLES + i];
        }
        __syncthreads();
        for (int j = 0; j < PARTICLES; ++j) {
            add(sum, a2, me, position_tile[j], charge_tile[j]);
        }
        __syncthreads();
    }
    if (i < PARTICLES) {
        forces[home * PARTICLES + i] = sum;
    }
}
