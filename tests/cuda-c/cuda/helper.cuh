// A header that defines what it declares: it can be included, and linked as it is.
#pragma once
#include "functions.h"

template <typename T>
__device__ static T three_times(T x) {
    return x + x + x;
}

extern "C" __device__ int helper(int x) {
    return three_times(x);
}
