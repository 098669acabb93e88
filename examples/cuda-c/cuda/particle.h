#pragma once

#define TABLE_LENGTH 4

struct Particle {
    float position[3];
    float mass;
    int kind;
};

extern "C" __device__ Particle moved(Particle particle, float3 by);
extern "C" __device__ float weight(Particle particle);
extern "C" __device__ double twice(double x);
