#include "helper.cuh"
