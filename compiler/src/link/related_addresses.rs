//! After the optimiser: addresses that differ by what the launch gives are computed from one another.
//!
//! The neighbours of an element in a volume are `(k · rows + j) · columns + i` for other `k`, `j` and `i`. LLVM computes each product anew, in 64 bits,
//! although the addresses differ by `rows · columns` and `columns`, which are the same in all threads and rounds: a GPU computes these once a warp. An
//! addition is left for each neighbour, and none where the distance is a constant.
//!
//! An address is taken for a polynomial of values that are not looked into. Among addresses of one block with one base, those with the same terms in
//! values that vary differ by terms in launch constants.
//!
//! It relies on arithmetic: addresses are numbers modulo 2⁶⁴, where products may be multiplied out. Numbers of 32 bits are looked into where LLVM knows
//! that they do not overflow.

use std::collections::{BTreeMap, HashMap};

use super::{loops::forward_order, uniformity::LaunchConstants};
use crate::llvm::{Block, Module, Opcode, Value};

/// How far an address is looked into.
const MOST_DEPTH: u32 = 16;
/// Larger polynomials are those of other things than positions.
const MOST_TERMS: usize = 12;

/// How many addresses, the first ones of a block, others are computed from. A stencil of 5 × 5 × 5 has 125.
const MOST_NEIGHBOURS: usize = 128;
/// A distance of more products may be as much work as the address.
const MOST_OF_DISTANCE: usize = 4;

/// Relates the addresses of each block in the module.
pub(super) fn relate(module: &Module<'_>, is_kernel: impl Fn(&str) -> bool) {
    for function in module.functions() {
        let blocks = forward_order(function);
        let mut terms = Terms::of(module, function, &blocks, is_kernel(&function.name()));
        blocks.iter().for_each(|block| terms.relate(*block));
    }
}

/// An address that memory is accessed at.
struct Address<'c> {
    pointer: Value<'c>,
    /// Where the first instruction that computed it is, in forward order.
    place: usize,
    base: Value<'c>,
    /// Behind the base, in bytes.
    offset: Polynomial,
    /// Whether it was computed from another one.
    is_related: bool,
}

/// Products of values, by their numbers in [`Terms`], with their factors. The empty product is 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Polynomial(BTreeMap<Vec<usize>, i64>);

impl Polynomial {
    fn constant(number: i64) -> Self {
        let mut constant = Self::default();
        constant.add(Vec::new(), number);
        constant
    }

    fn add(&mut self, product: Vec<usize>, factor: i64) {
        let sum = self.0.entry(product).or_default();
        *sum = sum.wrapping_add(factor);
        self.0.retain(|_, factor| *factor != 0);
    }

    /// `self + other · factor`
    fn plus(mut self, other: &Self, factor: i64) -> Self {
        for (product, of_product) in &other.0 {
            self.add(product.clone(), of_product.wrapping_mul(factor));
        }
        self
    }

    fn times(&self, other: &Self) -> Self {
        let mut products = Self::default();
        for (left, of_left) in &self.0 {
            for (right, of_right) in &other.0 {
                let mut product = [left.as_slice(), right].concat();
                product.sort_unstable();
                products.add(product, of_left.wrapping_mul(*of_right));
            }
        }
        products
    }

    /// How many products there are, not counting 1.
    fn varying(&self) -> usize {
        self.0.keys().filter(|product| !product.is_empty()).count()
    }
}

/// The values of a function that polynomials have, numbered as they are found: the order decides on that of instructions. One of fewer than 64 bits
/// stands for its zero extension.
struct Terms<'a, 'c> {
    module: &'a Module<'c>,
    function: Value<'c>,
    constants: LaunchConstants<'c>,
    values: Vec<Value<'c>>,
    numbers: HashMap<Value<'c>, usize>,
    /// Where each instruction is in forward order.
    places: HashMap<Value<'c>, usize>,
}

impl<'a, 'c> Terms<'a, 'c> {
    fn of(module: &'a Module<'c>, function: Value<'c>, blocks: &[Block<'c>], is_kernel: bool) -> Self {
        let instructions = blocks.iter().flat_map(|block| block.instructions());
        Self {
            module,
            function,
            constants: LaunchConstants::of(blocks, is_kernel),
            values: Vec::new(),
            numbers: HashMap::new(),
            places: instructions.enumerate().map(|(place, instruction)| (instruction, place)).collect(),
        }
    }

    /// Relates the addresses of a block.
    fn relate(&mut self, block: Block<'c>) {
        let mut known: Vec<Address<'c>> = Vec::new();
        for access in block.instructions() {
            let pointer = access.accessed().filter(|pointer| pointer.block() == Some(block));
            let new = pointer.filter(|pointer| known.iter().all(|address| address.pointer != *pointer));
            let Some(mut address) = new.and_then(|pointer| self.address(pointer)) else { continue };
            if let Some(other) = self.related(&address, &known) {
                address.pointer.replace_by(other);
                address = Address { pointer: other, is_related: true, ..address };
            }
            known.push(address);
        }
    }

    /// Computes an address from the nearest of others, if the launch gives how far it is.
    fn related(&self, address: &Address<'c>, others: &[Address<'c>]) -> Option<Value<'c>> {
        let (other, distance) = others
            .iter()
            .take(MOST_NEIGHBOURS)
            .filter(|other| other.base == address.base && other.place < address.place)
            .filter_map(|other| Some((other, self.distance(address, other)?)))
            .min_by_key(|(_, distance)| distance.varying())?;
        // LLVM relates addresses at constant distances.
        let is_worth_it = distance.varying() > 0 || other.is_related;
        if !is_worth_it || distance.varying() > MOST_OF_DISTANCE {
            return None;
        }
        let bytes = self.compute(&distance, address.place)?;
        self.module.address_behind(address.pointer, other.pointer, bytes)
    }

    fn address(&mut self, pointer: Value<'c>) -> Option<Address<'c>> {
        let place = *self.places.get(&pointer)?;
        let (mut base, mut offset) = (pointer, Polynomial::default());
        while let Some([next, index]) = base.operands_of(Opcode::GET_ELEMENT_POINTER) {
            if index.integer_bits() != Some(64) {
                break;
            }
            let bytes = i64::try_from(self.module.element_bytes(base)).ok()?;
            offset = offset.plus(&self.polynomial(index, MOST_DEPTH)?, bytes);
            base = next;
        }
        (base != pointer).then_some(Address { pointer, place, base, offset, is_related: false })
    }

    /// What a number of up to 64 bits is computed as, one without a sign if it has fewer.
    fn polynomial(&mut self, value: Value<'c>, depth: u32) -> Option<Polynomial> {
        if let Some(number) = value.constant_number() {
            return Some(Polynomial::constant(number as i64));
        }
        if let Some([narrow]) = value.operands_of(Opcode::ZERO_EXTEND) {
            return self.polynomial(narrow, depth);
        }
        let computed = match depth.checked_sub(1) {
            Some(depth) => self.computed(value, depth)?,
            None => None,
        };
        Some(computed.unwrap_or_else(|| {
            let values = &mut self.values;
            let number = *self.numbers.entry(value).or_insert_with(|| {
                values.push(value);
                values.len() - 1
            });
            let mut itself = Polynomial::default();
            itself.add(vec![number], 1);
            itself
        }))
    }

    /// The inner one is none if the value is not looked into, the outer one if it is too much.
    fn computed(&mut self, value: Value<'c>, depth: u32) -> Option<Option<Polynomial>> {
        let Some(opcode) = value.block().map(|_| value.opcode()) else { return Some(None) };
        // A narrow number is what its operands make only if it does not wrap.
        let is_exact = opcode.may_wrap() && (value.integer_bits() == Some(64) || value.does_not_wrap());
        let operands: Vec<_> = match is_exact || value.is_disjoint() {
            true => value.operands().collect(),
            false => return Some(None),
        };
        let left = self.polynomial(operands[0], depth)?;
        let right = self.polynomial(operands[1], depth)?;
        let result = match opcode {
            Opcode::SUBTRACT => left.plus(&right, -1),
            Opcode::MULTIPLY => left.times(&right),
            Opcode::SHIFT_LEFT => match operands[1].constant_number() {
                Some(places @ 0..63) => Polynomial::default().plus(&left, 1 << places),
                _ => return Some(None),
            },
            _ => left.plus(&right, 1),
        };
        (result.0.len() <= MOST_TERMS).then_some(Some(result))
    }

    /// How far an address is behind another one, if the launch gives that.
    fn distance(&self, address: &Address<'c>, other: &Address<'c>) -> Option<Polynomial> {
        let distance = address.offset.clone().plus(&other.offset, -1);
        let mut values = distance.0.keys().flatten().map(|number| self.values[*number]);
        values.all(|value| self.constants.contain(value)).then_some(distance)
    }

    /// Computes a distance behind the last of its values, if that is before a place.
    fn compute(&self, distance: &Polynomial, before: usize) -> Option<Value<'c>> {
        let value = |number: &usize| self.values[*number];
        let used = distance.0.keys().flatten().map(value).filter(|value| !value.is_parameter());
        // Each of them is there where the addresses are, so that each is there where the last one is.
        let places =
            used.map(|value| Some((*self.places.get(&value)?, value))).collect::<Option<Vec<_>>>()?;
        let behind = match places.into_iter().max_by_key(|(place, _)| *place) {
            Some((place, _)) if place >= before => return None,
            Some((_, last)) => last.next_instruction()?,
            None => self.function.first_block()?.instructions().into_iter().next()?,
        };
        let products =
            distance.0.iter().map(|(product, factor)| (product.iter().map(value).collect(), *factor));
        self.module.sum_of_products(behind, &products.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomial(products: &[(&[usize], i64)]) -> Polynomial {
        let mut sum = Polynomial::default();
        products.iter().for_each(|(product, factor)| sum.add(product.to_vec(), *factor));
        sum
    }

    /// `(k + 1) · rows · columns - k · rows · columns`
    #[test]
    fn differences_of_products_are_multiplied_out() {
        let [k, rows, columns] = [0, 1, 2].map(|number| polynomial(&[(&[number], 1)]));
        let layer = rows.times(&columns);
        let next = k.clone().plus(&Polynomial::constant(1), 1).times(&layer);
        assert_eq!(next.clone().plus(&k.times(&layer), -1), polynomial(&[(&[1, 2], 1)]));
        assert_eq!(next.plus(&layer.times(&k), -1).varying(), 1);
    }

    #[test]
    fn factors_wrap_as_addresses_do() {
        let x = polynomial(&[(&[0], i64::MAX)]);
        assert_eq!(x.clone().plus(&x, 1), polynomial(&[(&[0], -2)]));
        assert_eq!(x.clone().plus(&x, -1), Polynomial::default());
        assert_eq!(polynomial(&[(&[], 1 << 62)]).times(&Polynomial::constant(4)), Polynomial::default());
    }
}
