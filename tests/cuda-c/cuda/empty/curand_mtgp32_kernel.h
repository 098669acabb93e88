// clang includes this file of cuRAND, and needs nothing of it.
