#include "particle.h"

__constant__ float GRAVITY[TABLE_LENGTH] = {9.8f, 3.7f, 24.8f, 1.6f};

// A struct by value, both ways.
extern "C" __device__ Particle moved(Particle particle, float3 by) {
    particle.position[0] += by.x;
    particle.position[1] += by.y;
    particle.position[2] += by.z;
    return particle;
}

// A table in constant memory.
extern "C" __device__ float weight(Particle particle) {
    return particle.mass * GRAVITY[particle.kind & (TABLE_LENGTH - 1)];
}

template <typename T>
__device__ T twice_of(T x) {
    return x + x;
}

// A template has no name for C: a function in front of it has.
extern "C" __device__ double twice(double x) {
    return twice_of(x);
}
