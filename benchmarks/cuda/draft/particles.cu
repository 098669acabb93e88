// The kernels of ../../kernels/src/draft/particles.rs. Built with `nvcc -O3`.

#define TILE 256
#define SOFTENING 1e-3f

struct Acceleration {
    float x, y, z;
};

static __device__ Acceleration pull(float4 body, float4 at)
{
    float x = body.x - at.x, y = body.y - at.y, z = body.z - at.z;
    float inverse = rsqrtf(x * x + y * y + z * z + SOFTENING);
    float strength = body.w * inverse * inverse * inverse;
    return {x * strength, y * strength, z * strength};
}

extern "C" __global__ void n_body(
    const float4* __restrict__ bodies, unsigned length, Acceleration* __restrict__ accelerations)
{
    __shared__ float4 tile[TILE];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < length ? bodies[i] : make_float4(0, 0, 0, 0);
    Acceleration sum = {0, 0, 0};
    for (unsigned first = 0; first < length; first += TILE) {
        unsigned j = first + threadIdx.x;
        tile[threadIdx.x] = j < length ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            Acceleration part = pull(tile[k], me);
            sum.x += part.x;
            sum.y += part.y;
            sum.z += part.z;
        }
        __syncthreads();
    }
    if (i < length) {
        accelerations[i] = sum;
    }
}
