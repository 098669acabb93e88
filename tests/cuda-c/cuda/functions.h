#pragma once

struct One {
    float value;
};

struct Odd {
    char letter;
    double number;
    short count;
};

struct Large {
    int numbers[20];
};

/// Defined in another file.
extern "C" __device__ int helper(int x);
