// Twice its argument, through a pointer.
extern "C" __device__ void bar(int a, int *out) {
    *out = 2 * a;
}
