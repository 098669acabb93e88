; The head of every piece of the prelude. Attributes: #0 for what only computes, #1 for what must not move under divergent
; control flow. Intrinsics need no declaration (LLVM 19 and later declare them).

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

attributes #0 = { alwaysinline nounwind willreturn }
attributes #1 = { alwaysinline convergent nounwind }

