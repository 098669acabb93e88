//! Matrix multiplication on the CPU device: the lanes exchange their parts, and each computes its own elements of the result.

use core::{array, panic::Location};

use super::{
    Accumulator, FragmentA, FragmentB, MmaAccumulator, MmaElement, MmaInto, accumulator::place_in_c,
    element::sealed::Element, fragment::group_and_place,
};
use crate::{
    host::{Meeting, Met, current},
    warp::WARP_SIZE,
};

/// The maximum number of registers of A and B per lane.
const REGISTERS: usize = 6;

/// The registers that a lane passes to the others: those of A, then those of B, each as 8 bytes.
type Given = [[u8; 8]; REGISTERS];

#[track_caller]
pub(super) fn mma<A, B, C>(a: &FragmentA<A>, b: &FragmentB<B>, c: Accumulator<C>) -> Accumulator<C>
where
    A: MmaInto<C, B>,
    B: MmaElement,
    C: MmaAccumulator,
{
    let (a, b) = (a.registers(), b.registers());
    let registers = a.as_ref().iter().map(|&register| A::to_bits(register));
    let mut registers = registers.chain(b.as_ref().iter().map(|&register| B::to_bits(register)));
    let given: Given = array::from_fn(|_| registers.next().unwrap_or(0).to_ne_bytes());
    let meeting = Meeting {
        place: Location::caller(),
        operation: "mma",
        lanes: u32::MAX,
        value_bytes: size_of::<Given>(),
    };
    let lane = group_and_place();
    let mut result = c;
    current().block.meet(meeting, given.as_flattened(), &mut |met| {
        result = Accumulator::from_indices(|i| {
            let (row, column) = place_in_c(lane, i);
            let sum = (0..A::DEPTH).fold(c.get(i).to_sum(), |sum, k| {
                A::add_product(sum, element_of_a(met, row, k), element_of_b::<A, B>(met, k, column))
            });
            C::from_sum(sum)
        });
    });
    result
}

/// Returns an element of A, from the lane that holds it.
fn element_of_a<A: MmaElement>(met: &Met<'_>, row: usize, column: usize) -> A {
    let per_register = A::PER_REGISTER;
    let word = column / per_register;
    let register = row / 8 + word / 4 * 2;
    unpack::<A>(met, row % 8 * 4 + word % 4, register, column % per_register)
}

/// Returns an element of B. Its registers come after those of A.
fn element_of_b<A: Element, B: MmaElement>(met: &Met<'_>, row: usize, column: usize) -> B {
    let per_register = B::PER_REGISTER;
    let word = row / per_register;
    let register = A::EMPTY_A.as_ref().len() + word / 4;
    unpack::<B>(met, column * 4 + word % 4, register, row % per_register)
}

/// Returns the element at a position in a register of a lane.
fn unpack<T: Element>(met: &Met<'_>, lane: usize, register: usize, place: usize) -> T {
    let given = match met.value(lane as u32) {
        Some(given) => given,
        // In a destructor of a thread that panics, another panic would end the process.
        None if std::thread::panicking() => &[0; size_of::<Given>()],
        None => panic!(
            "lane {lane} ended before its warp of {WARP_SIZE} lanes multiplied matrices, for which all are needed"
        ),
    };
    let bits = given.as_chunks().0[register];
    T::unpack(T::from_bits(u64::from_ne_bytes(bits)), place)
}
