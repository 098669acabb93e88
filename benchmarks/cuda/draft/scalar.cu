// The kernels of ../../kernels/src/draft/scalar.rs. Built with `nvcc -O3`.

#define RATE 0.02f
#define VOLATILITY 0.3f

static __device__ float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float polynomial = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * expf(-0.5f * d * d) * polynomial;
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void __launch_bounds__(256) black_scholes(
    const float* __restrict__ stocks, const float* __restrict__ strikes, const float* __restrict__ years, size_t length,
    float* __restrict__ calls, float* __restrict__ puts)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length) {
        return;
    }
    float stock = stocks[i], strike = strikes[i], time = years[i], root = sqrtf(time);
    float d1 = (logf(stock / strike) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * time) / (VOLATILITY * root);
    float first = normal(d1), second = normal(d1 - VOLATILITY * root);
    float discounted = strike * expf(-RATE * time);
    calls[i] = stock * first - discounted * second;
    puts[i] = discounted * (1.0f - second) - stock * (1.0f - first);
}

static __constant__ unsigned K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static __device__ unsigned rotate(unsigned x, int by)
{
    return __funnelshift_r(x, x, by);
}

static __device__ void compress(unsigned state[8], const unsigned block[16])
{
    unsigned w[64];
    for (int i = 0; i < 16; ++i) {
        w[i] = block[i];
    }
    for (int i = 16; i < 64; ++i) {
        unsigned s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
        unsigned s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
        unsigned s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        unsigned t1 = h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i];
        unsigned s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        unsigned t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

struct Header {
    unsigned words[19];
};

extern "C" __global__ void __launch_bounds__(256) sha_256_twice(Header header, unsigned* __restrict__ words, unsigned length)
{
    const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned nonce = blockIdx.x * blockDim.x + threadIdx.x;
    if (nonce >= length) {
        return;
    }
    unsigned state[8], inner[8], block[16];
    for (int i = 0; i < 8; ++i) {
        inner[i] = start[i];
        state[i] = start[i];
    }
    for (int i = 0; i < 16; ++i) {
        block[i] = header.words[i];
    }
    compress(inner, block);
    for (int i = 0; i < 16; ++i) {
        block[i] = i < 3 ? header.words[16 + i] : 0;
    }
    block[3] = nonce;
    block[4] = 0x80000000;
    block[15] = 80 * 8;
    compress(inner, block);
    for (int i = 0; i < 16; ++i) {
        block[i] = i < 8 ? inner[i] : 0;
    }
    block[8] = 0x80000000;
    block[15] = 32 * 8;
    compress(state, block);
    words[nonce] = state[0];
}
