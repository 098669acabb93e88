// The function that ../linked/src/lib.rs calls.

extern "C" __device__ float logistic(float rate, float x)
{
    float next = rate * x * (1.0f - x);
    return next > 0.5f ? next : next + 0.25f * x;
}
