; Whether a loop over the positions of a thread ends after the first one: `version-loops` decides.

define noundef i1 @__gpukernel_in_one_round(i1 noundef %is.covered) #2 {
  ret i1 %is.covered
}

attributes #2 = { noinline nounwind willreturn memory(none) }
