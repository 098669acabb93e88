#pragma once

// How many threads a block has that calls `block_sum`.
#define BLOCK_SUM_THREADS 256

// The sum over all threads of a block, for its first thread.
extern "C" __device__ float block_sum(float value);
