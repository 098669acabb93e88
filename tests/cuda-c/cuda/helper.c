/* The same in C, whose names are those in the source. */
__device__ int helper(int x) {
    return x + x + x;
}
