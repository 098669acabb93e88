// The kernels of ../../kernels/src/draft/lookups.rs. Built with `nvcc -O3`.

#include <math_constants.h>

#define FEATURES 34
#define SECTIONS 5

extern "C" __global__ void __launch_bounds__(256) nearest_centre(
    const float* __restrict__ points, unsigned length, const float* __restrict__ centres, unsigned count,
    unsigned* __restrict__ nearest)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length) {
        return;
    }
    float least = CUDART_INF_F;
    for (unsigned k = 0; k < count; ++k) {
        float distance = 0;
        for (int feature = 0; feature < FEATURES; ++feature) {
            float difference = points[(size_t)feature * length + i] - centres[k * FEATURES + feature];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            nearest[i] = k;
        }
    }
}

struct Point {
    double energy, sections[SECTIONS];
};

static __device__ unsigned find(const Point* __restrict__ points, unsigned count, double energy)
{
    unsigned low = 0, high = count - 1;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (points[middle].energy > energy) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(256) cross_sections(
    const Point* __restrict__ nuclides, unsigned count, unsigned points, const double* __restrict__ densities,
    const double* __restrict__ energies, const unsigned* __restrict__ materials, double* __restrict__ sums, unsigned length)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length) {
        return;
    }
    double energy = energies[i], total[SECTIONS] = {};
    unsigned material = materials[i];
    for (unsigned nuclide = 0; nuclide < count; ++nuclide) {
        double density = densities[(size_t)material * count + nuclide];
        if (density == 0) {
            continue;
        }
        const Point* of_nuclide = nuclides + (size_t)nuclide * points;
        unsigned at = find(of_nuclide, points, energy);
        const Point &low = of_nuclide[at], &high = of_nuclide[at + 1];
        double part = (high.energy - energy) / (high.energy - low.energy);
        for (int k = 0; k < SECTIONS; ++k) {
            total[k] += density * (high.sections[k] - part * (high.sections[k] - low.sections[k]));
        }
    }
    for (int k = 0; k < SECTIONS; ++k) {
        sums[(size_t)i * SECTIONS + k] = total[k];
    }
}
