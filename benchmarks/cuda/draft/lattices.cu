// The kernels of ../../kernels/src/draft/lattices.rs. Built with `nvcc -O3`.

#define LINKS 4

struct Matrix {
    float2 e[3][3];
};

extern "C" __global__ void __launch_bounds__(256) su3(
    const Matrix* __restrict__ links, const Matrix* __restrict__ directions, Matrix* __restrict__ products, size_t length)
{
    size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= length) {
        return;
    }
    const Matrix &a = links[n], &b = directions[n % LINKS];
    Matrix c = {};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 3; ++k) {
                c.e[i][j].x += a.e[i][k].x * b.e[k][j].x - a.e[i][k].y * b.e[k][j].y;
                c.e[i][j].y += a.e[i][k].x * b.e[k][j].y + a.e[i][k].y * b.e[k][j].x;
            }
        }
    }
    products[n] = c;
}
