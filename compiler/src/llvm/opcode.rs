//! What instructions do, by LLVM's numbers.

use std::ops::RangeInclusive;

use super::Value;

/// What an instruction or a constant expression does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opcode(i32);

/// llvm-c/Core.h, `LLVMOpcode`.
impl Opcode {
    pub(crate) const BRANCH: Self = Self(2);
    pub(crate) const SWITCH: Self = Self(3);
    pub(crate) const UNREACHABLE: Self = Self(7);
    pub(crate) const ADD: Self = Self(8);
    pub(crate) const SUBTRACT: Self = Self(10);
    pub(crate) const MULTIPLY: Self = Self(12);
    pub(crate) const DIVIDE: Self = Self(14);
    pub(crate) const REMAINDER: Self = Self(17);
    pub(crate) const FLOAT_REMAINDER: Self = Self(19);
    pub(crate) const SHIFT_LEFT: Self = Self(20);
    pub(crate) const SHIFT_RIGHT: Self = Self(21);
    pub(crate) const SHIFT_RIGHT_SIGNED: Self = Self(22);
    pub(crate) const AND: Self = Self(23);
    pub(crate) const OR: Self = Self(24);
    pub(crate) const XOR: Self = Self(25);
    pub(crate) const LOCAL_VARIABLE: Self = Self(26);
    pub(super) const LOAD: Self = Self(27);
    pub(super) const STORE: Self = Self(28);
    pub(crate) const GET_ELEMENT_POINTER: Self = Self(29);
    pub(crate) const TRUNCATE: Self = Self(30);
    pub(crate) const ZERO_EXTEND: Self = Self(31);
    pub(crate) const SIGN_EXTEND: Self = Self(32);
    pub(crate) const FLOAT_TO_UNSIGNED: Self = Self(33);
    pub(crate) const FLOAT_TO_SIGNED: Self = Self(34);
    pub(crate) const UNSIGNED_TO_FLOAT: Self = Self(35);
    pub(crate) const SIGNED_TO_FLOAT: Self = Self(36);
    pub(crate) const POINTER_TO_INTEGER: Self = Self(39);
    pub(crate) const COMPARE: Self = Self(42);
    pub(crate) const PHI: Self = Self(44);
    pub(crate) const CALL: Self = Self(45);
    pub(crate) const SELECT: Self = Self(46);
    pub(crate) const EXTRACT_VALUE: Self = Self(53);
    pub(crate) const FENCE: Self = Self(55);
    pub(crate) const COMPARE_EXCHANGE: Self = Self(56);
    const ATOMIC_UPDATE: Self = Self(57);
    pub(crate) const ADDRESS_SPACE_CAST: Self = Self(60);

    /// Whether it divides integers, which fails for some: udiv, sdiv, urem, srem.
    pub(crate) fn divides(self) -> bool {
        [14, 15, 17, 18].contains(&self.0)
    }

    /// Whether it computes an integer from two, of whose whole result it may give the lower bits alone.
    pub(crate) fn may_wrap(self) -> bool {
        [Self::ADD, Self::SUBTRACT, Self::MULTIPLY, Self::SHIFT_LEFT].contains(&self)
    }

    /// Whether it computes its result from its operands and does nothing else: add to xor, getelementptr, trunc to bitcast, icmp, fcmp, select,
    /// extractelement to insertvalue, addrspacecast, fneg.
    pub(super) fn computes(self) -> bool {
        const COMPUTING: [RangeInclusive<i32>; 6] = [8..=25, 29..=43, 46..=46, 50..=54, 60..=60, 66..=66];
        COMPUTING.iter().any(|range| range.contains(&self.0))
    }

    /// Whether it most likely takes no instruction of the processor: br, getelementptr, trunc, ptrtoint to bitcast, phi, extractvalue,
    /// insertvalue, addrspacecast.
    pub(super) fn is_free(self) -> bool {
        [2, 29, 30, 39, 40, 41, 44, 53, 54, 60].contains(&self.0)
    }
}

impl Value<'_> {
    /// What an instruction does.
    pub(crate) fn opcode(self) -> Opcode {
        // SAFETY: a live instruction.
        Opcode(unsafe { (self.context.llvm.LLVMGetInstructionOpcode)(self.raw) })
    }

    /// The address that an instruction reads or writes: of a load, a store or an atomic update.
    pub(crate) fn accessed(self) -> Option<Self> {
        let address = match self.opcode() {
            Opcode::LOAD | Opcode::ATOMIC_UPDATE => 0,
            Opcode::STORE => 1,
            _ => return None,
        };
        self.operands().nth(address)
    }

    /// What a constant does that is computed from others; none for other values.
    pub(super) fn constant_opcode(self) -> Option<Opcode> {
        let llvm = self.context.llvm;
        // SAFETY: asked for its kind first.
        unsafe {
            let is_computed = !(llvm.LLVMIsAConstantExpr)(self.raw).is_null();
            is_computed.then(|| Opcode((llvm.LLVMGetConstOpcode)(self.raw)))
        }
    }
}
