// What device functions of CUDA C find when they are compiled for the host, to run on gpukernel's CPU device.
//
// Of CUDA's built-ins there is what a function can have without its block's memory and without its warp: its place, the barrier of
// the block, atomic operations, vector types and mathematics. What is not here makes the function one without a version for the host.
#pragma once

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define __device__
#define __host__
#define __global__
#define __constant__ static const
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __restrict__ __restrict

#define GPUKERNEL_HOST 1

// Where the thread is, as the CPU device tells.

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    operator uint3() const { return {x, y, z}; }
};

struct gpukernel_place {
    uint3 thread, block, block_dim, grid_dim;
};

extern "C" void __gpukernel_host_place(gpukernel_place *);
extern "C" void __gpukernel_host_barrier();

static inline gpukernel_place gpukernel_place_now() {
    gpukernel_place place;
    __gpukernel_host_place(&place);
    return place;
}

#define threadIdx (gpukernel_place_now().thread)
#define blockIdx (gpukernel_place_now().block)
#define blockDim (gpukernel_place_now().block_dim)
#define gridDim (gpukernel_place_now().grid_dim)
#define warpSize 32

static inline void __syncthreads() { __gpukernel_host_barrier(); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Vector types: the alignments are CUDA's (CUDA C++ Programming Guide, "Built-in Vector Types").

#define GPUKERNEL_VECTORS(name, type, align2, align4)                                                                        \
    struct name##1 {                                                                                                         \
        type x;                                                                                                              \
    };                                                                                                                       \
    struct __attribute__((aligned(align2))) name##2 {                                                                        \
        type x, y;                                                                                                           \
    };                                                                                                                       \
    struct __attribute__((aligned(align4))) name##4 {                                                                        \
        type x, y, z, w;                                                                                                     \
    };                                                                                                                       \
    static inline name##1 make_##name##1(type x) { return {x}; }                                                             \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                                  \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

#define GPUKERNEL_VECTOR3(name, type)                                                                                        \
    struct name##3 {                                                                                                         \
        type x, y, z;                                                                                                        \
    };

#define GPUKERNEL_MAKE3(name, type)                                                                                          \
    static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long long longlong;
typedef unsigned long long ulonglong;

GPUKERNEL_VECTORS(char, signed char, 2, 4)
GPUKERNEL_VECTORS(uchar, unsigned char, 2, 4)
GPUKERNEL_VECTORS(short, short, 4, 8)
GPUKERNEL_VECTORS(ushort, unsigned short, 4, 8)
GPUKERNEL_VECTORS(int, int, 8, 16)
GPUKERNEL_VECTORS(uint, unsigned, 8, 16)
GPUKERNEL_VECTORS(long, long, 16, 16)
GPUKERNEL_VECTORS(ulong, unsigned long, 16, 16)
GPUKERNEL_VECTORS(longlong, long long, 16, 16)
GPUKERNEL_VECTORS(ulonglong, unsigned long long, 16, 16)
GPUKERNEL_VECTORS(float, float, 8, 16)
GPUKERNEL_VECTORS(double, double, 16, 16)

GPUKERNEL_VECTOR3(char, signed char)
GPUKERNEL_VECTOR3(uchar, unsigned char)
GPUKERNEL_VECTOR3(short, short)
GPUKERNEL_VECTOR3(ushort, unsigned short)
GPUKERNEL_VECTOR3(int, int)
GPUKERNEL_VECTOR3(long, long)
GPUKERNEL_VECTOR3(ulong, unsigned long)
GPUKERNEL_VECTOR3(longlong, long long)
GPUKERNEL_VECTOR3(ulonglong, unsigned long long)
GPUKERNEL_VECTOR3(float, float)
GPUKERNEL_VECTOR3(double, double)

GPUKERNEL_MAKE3(char, signed char)
GPUKERNEL_MAKE3(uchar, unsigned char)
GPUKERNEL_MAKE3(short, short)
GPUKERNEL_MAKE3(ushort, unsigned short)
GPUKERNEL_MAKE3(int, int)
GPUKERNEL_MAKE3(uint, unsigned)
GPUKERNEL_MAKE3(long, long)
GPUKERNEL_MAKE3(ulong, unsigned long)
GPUKERNEL_MAKE3(longlong, long long)
GPUKERNEL_MAKE3(ulonglong, unsigned long long)
GPUKERNEL_MAKE3(float, float)
GPUKERNEL_MAKE3(double, double)

// Atomic operations, which return the old value.

template <typename T, typename F>
static inline T gpukernel_update(T *at, F change) {
    T old, changed;
    __atomic_load(at, &old, __ATOMIC_RELAXED);
    do {
        changed = change(old);
    } while (!__atomic_compare_exchange(at, &old, &changed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <typename T>
struct gpukernel_same {
    typedef T type;
};

#define GPUKERNEL_ATOMIC(name, expression)                                                                                   \
    template <typename T>                                                                                                    \
    static inline T name(T *at, typename gpukernel_same<T>::type value) {                                                    \
        return gpukernel_update(at, [value](T old) -> T { return expression; });                                             \
    }

GPUKERNEL_ATOMIC(atomicAdd, old + value)
GPUKERNEL_ATOMIC(atomicSub, old - value)
GPUKERNEL_ATOMIC(atomicMin, value < old ? value : old)
GPUKERNEL_ATOMIC(atomicMax, old < value ? value : old)
GPUKERNEL_ATOMIC(atomicAnd, old & value)
GPUKERNEL_ATOMIC(atomicOr, old | value)
GPUKERNEL_ATOMIC(atomicXor, old ^ value)
GPUKERNEL_ATOMIC(atomicExch, ((void)old, value))
GPUKERNEL_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
GPUKERNEL_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)

template <typename T>
static inline T atomicCAS(T *at, typename gpukernel_same<T>::type compare, typename gpukernel_same<T>::type value) {
    T old = compare, changed = value;
    __atomic_compare_exchange(at, &old, &changed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return old;
}

// Mathematics that the C library does not have, or not under these names.

// The C library has some of these names for functions of its own.
#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __powf(x, y) powf(x, y)

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __mul24(int x, int y) { return (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8)); }
static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
static inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
static inline int __float_as_int(float x) { int bits; memcpy(&bits, &x, 4); return bits; }
static inline float __int_as_float(int bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline unsigned __float_as_uint(float x) { unsigned bits; memcpy(&bits, &x, 4); return bits; }
static inline float __uint_as_float(unsigned bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline long long __double_as_longlong(double x) { long long bits; memcpy(&bits, &x, 8); return bits; }
static inline double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, 8); return x; }
static inline void __trap() { __builtin_trap(); }

template <typename T>
static inline T __ldg(const T *at) {
    return *at;
}

#define GPUKERNEL_MIN_MAX(type)                                                                                              \
    static inline type min(type x, type y) { return y < x ? y : x; }                                                         \
    static inline type max(type x, type y) { return x < y ? y : x; }

GPUKERNEL_MIN_MAX(int)
GPUKERNEL_MIN_MAX(unsigned)
GPUKERNEL_MIN_MAX(long)
GPUKERNEL_MIN_MAX(unsigned long)
GPUKERNEL_MIN_MAX(long long)
GPUKERNEL_MIN_MAX(unsigned long long)

static inline float min(float x, float y) { return fminf(x, y); }
static inline float max(float x, float y) { return fmaxf(x, y); }
static inline double min(double x, double y) { return fmin(x, y); }
static inline double max(double x, double y) { return fmax(x, y); }
