//! Conditions on arguments (`requires`) before a launch: what the host knows of the arguments, and what to say of a condition that
//! they do not meet.

use core::fmt;
use std::{format, string::String, vec::Vec};

use super::ArgReader;
use crate::{
    contract::{
        condition::Fault,
        known::{Known, Tail},
    },
    param::Param,
};

/// What is known of the next parameter.
///
/// # Safety
/// The reader is at arguments that were packed for `P`.
#[doc(hidden)]
pub unsafe fn known<P: Param<'static>>(reader: &mut ArgReader<'_>) -> Known<'static, P>
where
    P::Tail: Tail<P::Head>,
{
    // SAFETY: `pack` wrote a head and a tail. What is read holds no reference on the host.
    let (head, tail): (P::Head, P::Tail) = unsafe { (reader.read(), reader.read()) };
    tail.known(&head)
}

/// A condition of a launch contract (`requires`) that arguments do not meet.
///
/// Shown as the condition, then what it depends on: ``requires `n <= x.len()`: n = 5, x.len() = 3``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    condition: &'static str,
    /// Parameters, extents and constants.
    values: Vec<(&'static str, String)>,
    fault: Option<Fault>,
}

impl Unmet {
    /// The condition, as the contract has it.
    pub fn condition(&self) -> &'static str {
        self.condition
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "requires `{}`", self.condition)?;
        if let Some(fault) = self.fault {
            write!(f, ", in which {fault}")?;
        }
        for (index, (name, value)) in self.values.iter().enumerate() {
            let separator = if index == 0 { ':' } else { ',' };
            write!(f, "{separator} {name} = {value}")?;
        }
        Ok(())
    }
}

/// What became of a condition; `values` are what it depends on.
#[doc(hidden)]
pub fn unmet<const N: usize>(
    condition: &'static str,
    met: Result<bool, Fault>,
    values: [(&'static str, &dyn fmt::Debug); N],
) -> Option<Unmet> {
    let fault = match met {
        Ok(true) => return None,
        Ok(false) => None,
        Err(fault) => Some(fault),
    };
    let values = values.into_iter().map(|(name, value)| (name, format!("{value:?}"))).collect();
    Some(Unmet { condition, values, fault })
}
