//! The functions of libLLVM's C API that we call, looked up at run time in the library that the device rustc brings.
//!
//! Loaded and not linked, because users have no LLVM to link against, and because bitcode is read reliably only by
//! the LLVM that wrote it.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void},
    path::{Path, PathBuf},
    sync::{Once, OnceLock},
};

use libloading::Library;

use super::LlvmError;
use crate::isolated;

/// An opaque handle of the C API.
macro_rules! handles {
    ($($name:ident),*) => {$(
        #[repr(C)]
        pub(super) struct $name {
            _opaque: [u8; 0],
        }
    )*};
}

handles!(
    LLVMContext,
    LLVMModule,
    LLVMValue,
    LLVMType,
    LLVMUse,
    LLVMBasicBlock,
    LLVMBuilder,
    LLVMMemoryBuffer,
    LLVMAttribute,
    LLVMMetadata,
    LLVMTarget,
    LLVMTargetMachine,
    LLVMTargetData,
    LLVMPassBuilderOptions,
    LLVMErrorBox,
    LLVMDiagnostic
);

pub(super) type DiagnosticHandler = extern "C" fn(*mut LLVMDiagnostic, *mut c_void);

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The loaded library and its functions.
        #[allow(non_snake_case)]
        pub(crate) struct Llvm {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// Keeps the code mapped.
            _library: Library,
        }

        impl Llvm {
            fn look_up(library: Library, path: &Path) -> Result<Self, LlvmError> {
                $(
                    // SAFETY: the type is the one that llvm-c declares for this name in LLVM 22, as the test in `declarations` checks.
                    #[allow(non_snake_case)]
                    let $name = *unsafe {
                        library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(
                            concat!(stringify!($name), "\0"),
                        )
                    }
                    .map_err(|_| LlvmError::Symbol { path: path.to_owned(), name: stringify!($name) })?;
                )*
                Ok(Self { $($name,)* _library: library })
            }
        }
    };
}

/// Hands the functions, as llvm-c declares them but with `c_int` for enumerations, to a macro.
macro_rules! with_functions {
    ($macro:ident) => { $macro! {
    LLVMGetVersion(*mut c_uint, *mut c_uint, *mut c_uint);
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();

    LLVMParseCommandLineOptions(c_int, *const *const c_char, *const c_char);

    LLVMContextCreate() -> *mut LLVMContext;
    LLVMContextDispose(*mut LLVMContext);
    LLVMContextSetDiagnosticHandler(*mut LLVMContext, Option<DiagnosticHandler>, *mut c_void);
    LLVMGetDiagInfoDescription(*mut LLVMDiagnostic) -> *mut c_char;
    LLVMGetDiagInfoSeverity(*mut LLVMDiagnostic) -> c_int;
    LLVMDisposeMessage(*mut c_char);
    LLVMEnablePrettyStackTrace();
    LLVMGetErrorMessage(*mut LLVMErrorBox) -> *mut c_char;
    LLVMDisposeErrorMessage(*mut c_char);

    LLVMCreateMemoryBufferWithMemoryRangeCopy(*const c_char, usize, *const c_char) -> *mut LLVMMemoryBuffer;
    LLVMDisposeMemoryBuffer(*mut LLVMMemoryBuffer);
    LLVMGetBufferStart(*mut LLVMMemoryBuffer) -> *const c_char;
    LLVMGetBufferSize(*mut LLVMMemoryBuffer) -> usize;

    LLVMGetBitcodeModuleInContext2(*mut LLVMContext, *mut LLVMMemoryBuffer, *mut *mut LLVMModule) -> c_int;
    LLVMParseBitcodeInContext2(*mut LLVMContext, *mut LLVMMemoryBuffer, *mut *mut LLVMModule) -> c_int;
    LLVMParseIRInContext(*mut LLVMContext, *mut LLVMMemoryBuffer, *mut *mut LLVMModule, *mut *mut c_char) -> c_int;
    LLVMWriteBitcodeToMemoryBuffer(*mut LLVMModule) -> *mut LLVMMemoryBuffer;
    LLVMPrintModuleToString(*mut LLVMModule) -> *mut c_char;
    LLVMDisposeModule(*mut LLVMModule);
    LLVMLinkModules2(*mut LLVMModule, *mut LLVMModule) -> c_int;
    LLVMStripModuleDebugInfo(*mut LLVMModule) -> c_int;
    LLVMGetSubprogram(*mut LLVMValue) -> *mut LLVMMetadata;
    LLVMDISubprogramGetLine(*mut LLVMMetadata) -> c_uint;
    LLVMDIScopeGetFile(*mut LLVMMetadata) -> *mut LLVMMetadata;
    LLVMInstructionGetDebugLoc(*mut LLVMValue) -> *mut LLVMMetadata;
    LLVMInstructionSetDebugLoc(*mut LLVMValue, *mut LLVMMetadata);
    LLVMDILocationGetLine(*mut LLVMMetadata) -> c_uint;
    LLVMDILocationGetColumn(*mut LLVMMetadata) -> c_uint;
    LLVMDILocationGetScope(*mut LLVMMetadata) -> *mut LLVMMetadata;
    LLVMDILocationGetInlinedAt(*mut LLVMMetadata) -> *mut LLVMMetadata;
    LLVMDIBuilderCreateDebugLocation(*mut LLVMContext, c_uint, c_uint, *mut LLVMMetadata, *mut LLVMMetadata) -> *mut LLVMMetadata;
    LLVMDIFileGetDirectory(*mut LLVMMetadata, *mut c_uint) -> *const c_char;
    LLVMDIFileGetFilename(*mut LLVMMetadata, *mut c_uint) -> *const c_char;
    LLVMVerifyModule(*mut LLVMModule, c_int, *mut *mut c_char) -> c_int;
    LLVMGetDataLayoutStr(*mut LLVMModule) -> *const c_char;
    LLVMSetDataLayout(*mut LLVMModule, *const c_char);
    LLVMSetTarget(*mut LLVMModule, *const c_char);
    LLVMGetModuleDataLayout(*mut LLVMModule) -> *mut LLVMTargetData;
    LLVMGetModuleFlag(*mut LLVMModule, *const c_char, usize) -> *mut LLVMMetadata;
    LLVMAddModuleFlag(*mut LLVMModule, c_int, *const c_char, usize, *mut LLVMMetadata);
    LLVMValueAsMetadata(*mut LLVMValue) -> *mut LLVMMetadata;

    LLVMGetFirstGlobal(*mut LLVMModule) -> *mut LLVMValue;
    LLVMGetNextGlobal(*mut LLVMValue) -> *mut LLVMValue;
    LLVMGetNamedGlobal(*mut LLVMModule, *const c_char) -> *mut LLVMValue;
    LLVMAddGlobalInAddressSpace(*mut LLVMModule, *mut LLVMType, *const c_char, c_uint) -> *mut LLVMValue;
    LLVMDeleteGlobal(*mut LLVMValue);
    LLVMGetInitializer(*mut LLVMValue) -> *mut LLVMValue;
    LLVMSetInitializer(*mut LLVMValue, *mut LLVMValue);
    LLVMIsGlobalConstant(*mut LLVMValue) -> c_int;
    LLVMSetExternallyInitialized(*mut LLVMValue, c_int);
    LLVMGetAllocatedType(*mut LLVMValue) -> *mut LLVMType;
    LLVMGetNumIndices(*mut LLVMValue) -> c_uint;
    LLVMGetIndices(*mut LLVMValue) -> *const c_uint;
    LLVMGlobalGetValueType(*mut LLVMValue) -> *mut LLVMType;
    LLVMGetAlignment(*mut LLVMValue) -> c_uint;
    LLVMSetAlignment(*mut LLVMValue, c_uint);

    LLVMGetFirstFunction(*mut LLVMModule) -> *mut LLVMValue;
    LLVMGetNextFunction(*mut LLVMValue) -> *mut LLVMValue;
    LLVMAddFunction(*mut LLVMModule, *const c_char, *mut LLVMType) -> *mut LLVMValue;
    LLVMGetNamedFunction(*mut LLVMModule, *const c_char) -> *mut LLVMValue;
    LLVMDeleteFunction(*mut LLVMValue);
    LLVMSetFunctionCallConv(*mut LLVMValue, c_uint);
    LLVMCountParams(*mut LLVMValue) -> c_uint;
    LLVMGetParam(*mut LLVMValue, c_uint) -> *mut LLVMValue;
    LLVMGetFirstBasicBlock(*mut LLVMValue) -> *mut LLVMBasicBlock;
    LLVMGetNextBasicBlock(*mut LLVMBasicBlock) -> *mut LLVMBasicBlock;
    LLVMGetBasicBlockTerminator(*mut LLVMBasicBlock) -> *mut LLVMValue;
    LLVMGetNumSuccessors(*mut LLVMValue) -> c_uint;
    LLVMIsConditional(*mut LLVMValue) -> c_int;
    LLVMIsAInstruction(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsAArgument(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsNull(*mut LLVMValue) -> c_int;
    LLVMIsUndef(*mut LLVMValue) -> c_int;
    LLVMCountIncoming(*mut LLVMValue) -> c_uint;
    LLVMGetIncomingBlock(*mut LLVMValue, c_uint) -> *mut LLVMBasicBlock;
    LLVMGetCondition(*mut LLVMValue) -> *mut LLVMValue;
    LLVMSetCondition(*mut LLVMValue, *mut LLVMValue);
    LLVMGetSuccessor(*mut LLVMValue, c_uint) -> *mut LLVMBasicBlock;
    LLVMSetSuccessor(*mut LLVMValue, c_uint, *mut LLVMBasicBlock);
    LLVMIsAICmpInst(*mut LLVMValue) -> *mut LLVMValue;
    LLVMGetICmpPredicate(*mut LLVMValue) -> c_int;
    LLVMGetNSW(*mut LLVMValue) -> c_int;
    LLVMGetNUW(*mut LLVMValue) -> c_int;
    LLVMSetNUW(*mut LLVMValue, c_int);
    LLVMGetIsDisjoint(*mut LLVMValue) -> c_int;
    LLVMGetNNeg(*mut LLVMValue) -> c_int;
    LLVMGetMDKindIDInContext(*mut LLVMContext, *const c_char, c_uint) -> c_uint;
    LLVMGetMDNodeNumOperands(*mut LLVMValue) -> c_uint;
    LLVMGetMDNodeOperands(*mut LLVMValue, *mut *mut LLVMValue);
    LLVMGetMDString(*mut LLVMValue, *mut c_uint) -> *const c_char;
    LLVMGetMetadata(*mut LLVMValue, c_uint) -> *mut LLVMValue;
    LLVMMDStringInContext2(*mut LLVMContext, *const c_char, usize) -> *mut LLVMMetadata;
    LLVMMDNodeInContext2(*mut LLVMContext, *mut *mut LLVMMetadata, usize) -> *mut LLVMMetadata;
    LLVMTemporaryMDNode(*mut LLVMContext, *mut *mut LLVMMetadata, usize) -> *mut LLVMMetadata;
    LLVMMetadataReplaceAllUsesWith(*mut LLVMMetadata, *mut LLVMMetadata);
    LLVMMetadataAsValue(*mut LLVMContext, *mut LLVMMetadata) -> *mut LLVMValue;
    LLVMSetMetadata(*mut LLVMValue, c_uint, *mut LLVMValue);
    LLVMAppendBasicBlockInContext(*mut LLVMContext, *mut LLVMValue, *const c_char) -> *mut LLVMBasicBlock;
    LLVMGetFirstInstruction(*mut LLVMBasicBlock) -> *mut LLVMValue;
    LLVMGetNextInstruction(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsAAllocaInst(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsAGetElementPtrInst(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsACallInst(*mut LLVMValue) -> *mut LLVMValue;
    LLVMGetCalledValue(*mut LLVMValue) -> *mut LLVMValue;
    LLVMGetInstructionOpcode(*mut LLVMValue) -> c_int;
    LLVMGetInstructionParent(*mut LLVMValue) -> *mut LLVMBasicBlock;
    LLVMInsertIntoBuilder(*mut LLVMBuilder, *mut LLVMValue);
    LLVMInstructionEraseFromParent(*mut LLVMValue);
    LLVMInstructionRemoveFromParent(*mut LLVMValue);
    LLVMInstructionClone(*mut LLVMValue) -> *mut LLVMValue;
    LLVMCanValueUseFastMathFlags(*mut LLVMValue) -> c_int;
    LLVMGetFastMathFlags(*mut LLVMValue) -> c_uint;
    LLVMSetFastMathFlags(*mut LLVMValue, c_uint);

    LLVMGetValueName2(*mut LLVMValue, *mut usize) -> *const c_char;
    LLVMSetValueName2(*mut LLVMValue, *const c_char, usize);
    LLVMGetSection(*mut LLVMValue) -> *const c_char;
    LLVMSetSection(*mut LLVMValue, *const c_char);
    LLVMIsDeclaration(*mut LLVMValue) -> c_int;
    LLVMGetLinkage(*mut LLVMValue) -> c_int;
    LLVMSetLinkage(*mut LLVMValue, c_int);
    LLVMSetVisibility(*mut LLVMValue, c_int);
    LLVMGetNumOperands(*mut LLVMValue) -> c_int;
    LLVMGetOperand(*mut LLVMValue, c_uint) -> *mut LLVMValue;
    LLVMSetOperand(*mut LLVMValue, c_uint, *mut LLVMValue);
    LLVMIsAConstantExpr(*mut LLVMValue) -> *mut LLVMValue;
    LLVMGetConstOpcode(*mut LLVMValue) -> c_int;
    LLVMIsAtomicSingleThread(*mut LLVMValue) -> c_int;
    LLVMGetVolatile(*mut LLVMValue) -> c_int;
    LLVMGetOrdering(*mut LLVMValue) -> c_int;
    LLVMIsAFunction(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsAInlineAsm(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsAGlobalVariable(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsAConstant(*mut LLVMValue) -> *mut LLVMValue;
    LLVMIsAConstantDataSequential(*mut LLVMValue) -> *mut LLVMValue;
    LLVMGetAsString(*mut LLVMValue, *mut usize) -> *const c_char;
    LLVMGetFirstUse(*mut LLVMValue) -> *mut LLVMUse;
    LLVMIsInBounds(*mut LLVMValue) -> c_int;
    LLVMGetGEPSourceElementType(*mut LLVMValue) -> *mut LLVMType;
    LLVMReplaceAllUsesWith(*mut LLVMValue, *mut LLVMValue);
    LLVMPrintTypeToString(*mut LLVMType) -> *mut c_char;
    LLVMFunctionType(*mut LLVMType, *mut *mut LLVMType, c_uint, c_int) -> *mut LLVMType;
    LLVMGetReturnType(*mut LLVMType) -> *mut LLVMType;
    LLVMGetTypeKind(*mut LLVMType) -> c_int;
    LLVMTypeOf(*mut LLVMValue) -> *mut LLVMType;
    LLVMGetUndef(*mut LLVMType) -> *mut LLVMValue;
    LLVMConstAddrSpaceCast(*mut LLVMValue, *mut LLVMType) -> *mut LLVMValue;
    LLVMConstAllOnes(*mut LLVMType) -> *mut LLVMValue;
    LLVMConstInt(*mut LLVMType, c_ulonglong, c_int) -> *mut LLVMValue;
    LLVMConstPointerNull(*mut LLVMType) -> *mut LLVMValue;
    LLVMBuildPtrToInt(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMType, *const c_char) -> *mut LLVMValue;
    LLVMBuildUDiv(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMConstIntToPtr(*mut LLVMValue, *mut LLVMType) -> *mut LLVMValue;
    LLVMVoidTypeInContext(*mut LLVMContext) -> *mut LLVMType;
    LLVMInt32TypeInContext(*mut LLVMContext) -> *mut LLVMType;
    LLVMIntTypeInContext(*mut LLVMContext, c_uint) -> *mut LLVMType;
    LLVMVectorType(*mut LLVMType, c_uint) -> *mut LLVMType;
    LLVMIsAConstantInt(*mut LLVMValue) -> *mut LLVMValue;
    LLVMConstIntGetZExtValue(*mut LLVMValue) -> c_ulonglong;
    LLVMInt64TypeInContext(*mut LLVMContext) -> *mut LLVMType;
    LLVMPointerTypeInContext(*mut LLVMContext, c_uint) -> *mut LLVMType;
    LLVMABISizeOfType(*mut LLVMTargetData, *mut LLVMType) -> c_ulonglong;
    LLVMABIAlignmentOfType(*mut LLVMTargetData, *mut LLVMType) -> c_uint;

    LLVMGetEnumAttributeKindForName(*const c_char, usize) -> c_uint;
    LLVMCreateEnumAttribute(*mut LLVMContext, c_uint, u64) -> *mut LLVMAttribute;
    LLVMCreateStringAttribute(*mut LLVMContext, *const c_char, c_uint, *const c_char, c_uint) -> *mut LLVMAttribute;
    LLVMCreateConstantRangeAttribute(*mut LLVMContext, c_uint, c_uint, *const u64, *const u64) -> *mut LLVMAttribute;
    LLVMAddAttributeAtIndex(*mut LLVMValue, c_uint, *mut LLVMAttribute);
    LLVMRemoveCallSiteEnumAttribute(*mut LLVMValue, c_uint, c_uint);
    LLVMGetCallSiteEnumAttribute(*mut LLVMValue, c_uint, c_uint) -> *mut LLVMAttribute;
    LLVMAddCallSiteAttribute(*mut LLVMValue, c_uint, *mut LLVMAttribute);
    LLVMGetEnumAttributeAtIndex(*mut LLVMValue, c_uint, c_uint) -> *mut LLVMAttribute;
    LLVMGetEnumAttributeValue(*mut LLVMAttribute) -> u64;
    LLVMGetTypeAttributeValue(*mut LLVMAttribute) -> *mut LLVMType;
    LLVMRemoveEnumAttributeAtIndex(*mut LLVMValue, c_uint, c_uint);
    LLVMGetStringAttributeAtIndex(*mut LLVMValue, c_uint, *const c_char, c_uint) -> *mut LLVMAttribute;
    LLVMGetStringAttributeValue(*mut LLVMAttribute, *mut c_uint) -> *const c_char;
    LLVMRemoveStringAttributeAtIndex(*mut LLVMValue, c_uint, *const c_char, c_uint);

    LLVMCreateBuilderInContext(*mut LLVMContext) -> *mut LLVMBuilder;
    LLVMDisposeBuilder(*mut LLVMBuilder);
    LLVMPositionBuilderBefore(*mut LLVMBuilder, *mut LLVMValue);
    LLVMPositionBuilderAtEnd(*mut LLVMBuilder, *mut LLVMBasicBlock);
    LLVMBuildCall2(*mut LLVMBuilder, *mut LLVMType, *mut LLVMValue, *mut *mut LLVMValue, c_uint, *const c_char) -> *mut LLVMValue;
    LLVMBuildAddrSpaceCast(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMType, *const c_char) -> *mut LLVMValue;
    LLVMBuildLoad2(*mut LLVMBuilder, *mut LLVMType, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildStore(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue) -> *mut LLVMValue;
    LLVMBuildGEP2(*mut LLVMBuilder, *mut LLVMType, *mut LLVMValue, *mut *mut LLVMValue, c_uint, *const c_char) -> *mut LLVMValue;
    LLVMBuildICmp(*mut LLVMBuilder, c_int, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildSelect(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildInsertValue(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, c_uint, *const c_char) -> *mut LLVMValue;
    LLVMBuildFreeze(*mut LLVMBuilder, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildNSWAdd(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildAdd(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildSub(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildMul(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildZExt(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMType, *const c_char) -> *mut LLVMValue;
    LLVMBuildSExt(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMType, *const c_char) -> *mut LLVMValue;
    LLVMBuildAnd(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildOr(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildTrunc(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMType, *const c_char) -> *mut LLVMValue;
    LLVMBuildNot(*mut LLVMBuilder, *mut LLVMValue, *const c_char) -> *mut LLVMValue;
    LLVMBuildBr(*mut LLVMBuilder, *mut LLVMBasicBlock) -> *mut LLVMValue;
    LLVMBuildCondBr(*mut LLVMBuilder, *mut LLVMValue, *mut LLVMBasicBlock, *mut LLVMBasicBlock) -> *mut LLVMValue;
    LLVMBuildPhi(*mut LLVMBuilder, *mut LLVMType, *const c_char) -> *mut LLVMValue;
    LLVMAddIncoming(*mut LLVMValue, *mut *mut LLVMValue, *mut *mut LLVMBasicBlock, c_uint);
    LLVMGetInlineAsm(*mut LLVMType, *const c_char, usize, *const c_char, usize, c_int, c_int, c_int, c_int) -> *mut LLVMValue;
    LLVMBuildAlloca(*mut LLVMBuilder, *mut LLVMType, *const c_char) -> *mut LLVMValue;
    LLVMBuildRet(*mut LLVMBuilder, *mut LLVMValue) -> *mut LLVMValue;
    LLVMBuildRetVoid(*mut LLVMBuilder) -> *mut LLVMValue;
    LLVMBuildUnreachable(*mut LLVMBuilder) -> *mut LLVMValue;
    LLVMLookupIntrinsicID(*const c_char, usize) -> c_uint;
    LLVMGetIntrinsicDeclaration(*mut LLVMModule, c_uint, *mut *mut LLVMType, usize) -> *mut LLVMValue;

    LLVMGetTargetFromTriple(*const c_char, *mut *mut LLVMTarget, *mut *mut c_char) -> c_int;
    LLVMCreateTargetMachine(*mut LLVMTarget, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> *mut LLVMTargetMachine;
    LLVMDisposeTargetMachine(*mut LLVMTargetMachine);
    LLVMTargetMachineEmitToMemoryBuffer(*mut LLVMTargetMachine, *mut LLVMModule, c_int, *mut *mut c_char, *mut *mut LLVMMemoryBuffer) -> c_int;
    LLVMCreatePassBuilderOptions() -> *mut LLVMPassBuilderOptions;
    LLVMPassBuilderOptionsSetVerifyEach(*mut LLVMPassBuilderOptions, c_int);
    LLVMPassBuilderOptionsSetLoopUnrolling(*mut LLVMPassBuilderOptions, c_int);
    LLVMDisposePassBuilderOptions(*mut LLVMPassBuilderOptions);
    LLVMRunPasses(*mut LLVMModule, *const c_char, *mut LLVMTargetMachine, *mut LLVMPassBuilderOptions) -> *mut LLVMErrorBox;
    } };
}

with_functions!(functions);
#[cfg(test)]
pub(super) use with_functions;

// SAFETY: the table holds addresses of functions; LLVM's C API may be called from any thread as long as each context stays
// on one thread at a time, which `Context` sees to by not being `Sync`.
unsafe impl Send for Llvm {}
// SAFETY: as above.
unsafe impl Sync for Llvm {}

/// The library is loaded once per process and stays: unloading LLVM while its statics are in use is not supported.
static LOADED: OnceLock<(PathBuf, Llvm)> = OnceLock::new();

/// Options are set once: LLVM takes a second time for a mistake.
static OPTIONS_SET: Once = Once::new();

/// What no pass takes as a parameter. Loops whose number of rounds is known at run time only are left to ptxas, which unrolls them by four: if
/// LLVM does too, a thread with four rounds passes through five loops. Of a constant number of rounds LLVM joins up to eight, as nvcc does, if
/// they are short: up to 230 of its instructions together. Its own limit, a quarter of what it unrolls entirely, left two of an n-body loop, and 200 left
/// four, of which ptxas computed one after the other.
///
/// Whether all rounds become one piece is decided by what is left of them then, for up to 128 rounds: of ten at most, LLVM counts what counts the rounds, too, and left a
/// loop of 34 with two loads each rolled, which took 1.5 times as long as nvcc's code. nvcc unrolls up to 128 of the shortest.
const OPTIONS: [&CStr; 5] = [
    c"gpukernel",
    c"-unroll-runtime=false",
    c"-unroll-max-count=8",
    c"-unroll-partial-threshold=230",
    c"-unroll-max-iteration-count-to-analyze=128",
];

impl Llvm {
    /// The LLVM at `path`, after checking that it has the major version `expected` that the device rustc was built with.
    ///
    /// `dependencies` are loaded first: shared libraries that lie where the dynamic linker does not look.
    pub(crate) fn load(
        path: &Path,
        dependencies: &[PathBuf],
        expected: u32,
    ) -> Result<&'static Self, LlvmError> {
        if LOADED.get().is_none() {
            isolated::in_process(|| Self::load_once(path, dependencies, expected))?;
        }
        match LOADED.get() {
            Some((loaded, llvm)) if loaded == path => Ok(llvm),
            Some((loaded, _)) => Err(LlvmError::Another { loaded: loaded.clone(), wanted: path.to_owned() }),
            None => Err(LlvmError::Load { path: path.to_owned(), reason: "it vanished".into() }),
        }
    }

    fn load_once(path: &Path, dependencies: &[PathBuf], expected: u32) -> Result<(), LlvmError> {
        for dependency in dependencies {
            // Kept mapped for libLLVM to find: it resolves its needs among what is loaded by name.
            std::mem::forget(open(dependency)?);
        }
        let library = open(path)?;
        check_version(&library, path, expected)?;
        let llvm = Self::look_up(library, path)?;
        // SAFETY: plain initialisers, idempotent, without arguments.
        unsafe {
            (llvm.LLVMInitializeNVPTXTargetInfo)();
            (llvm.LLVMInitializeNVPTXTarget)();
            (llvm.LLVMInitializeNVPTXTargetMC)();
            (llvm.LLVMInitializeNVPTXAsmPrinter)();
        }
        OPTIONS_SET.call_once(|| llvm.set_options());
        // Another thread may have been faster; its library is as good.
        let _ = LOADED.set((path.to_owned(), llvm));
        Ok(())
    }

    fn set_options(&self) {
        let options = OPTIONS.map(CStr::as_ptr);
        // SAFETY: as many options as said, which live through the call; no text is added to what LLVM says of a wrong one.
        unsafe {
            (self.LLVMParseCommandLineOptions)(options.len() as c_int, options.as_ptr(), std::ptr::null())
        };
    }

    /// Major, minor and patch version, with dots.
    pub(crate) fn version(&self) -> String {
        version(self.LLVMGetVersion).1
    }
}

/// Asked before anything else is looked up: another version lacks functions, and that is not what is wrong with it.
fn check_version(library: &Library, path: &Path, expected: u32) -> Result<(), LlvmError> {
    let name = "LLVMGetVersion";
    // SAFETY: the type that llvm-c declares for this name.
    let get = unsafe { library.get::<GetVersion>(name) }
        .map_err(|_| LlvmError::Symbol { path: path.to_owned(), name })?;
    match version(*get) {
        (major, _) if major == expected => Ok(()),
        (_, found) => Err(LlvmError::Version { path: path.to_owned(), expected, found }),
    }
}

type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);

/// The major version, and all of it.
fn version(get: GetVersion) -> (u32, String) {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers.
    unsafe { get(&mut major, &mut minor, &mut patch) };
    (major, format!("{major}.{minor}.{patch}"))
}

fn open(path: &Path) -> Result<Library, LlvmError> {
    // SAFETY: a library of the device toolchain, which the user's rustc loads as well.
    unsafe { Library::new(path) }.map_err(|error| {
        // What the dynamic linker said is one level down.
        let reason = match std::error::Error::source(&error) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        };
        LlvmError::Load { path: path.to_owned(), reason }
    })
}

/// The library that this process uses, if one is loaded.
pub(super) fn loaded() -> Option<&'static Llvm> {
    LOADED.get().map(|(_, llvm)| llvm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{FindOptions, Toolchain};

    #[test]
    fn another_major_version_is_refused_before_a_function_is_missed() {
        let path = Toolchain::find(&FindOptions::new(".")).unwrap().rustc.libllvm.path;
        let library = open(&path).unwrap();
        let error = check_version(&library, &path, 99).unwrap_err().to_string();
        assert!(error.contains("but the device rustc was built with LLVM 99"), "{error}");
    }

    #[test]
    fn what_is_no_library_is_refused_with_the_loaders_words() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "no library").unwrap();
        let error = open(file.path()).err().unwrap().to_string();
        assert!(error.contains("file too short") || error.contains("invalid ELF header"), "{error}");
    }
}
