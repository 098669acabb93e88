"""Writes tests/device/numbers/rounding_table.rs: arithmetic in the four rounding modes, from exact fractions.

Run it here: python3 rounding.py > ../tests/device/numbers/rounding_table.rs
"""

import random
import struct
from fractions import Fraction
from math import isqrt

random.seed(4)

FORMATS = {"f32": (24, -149, 127, "I", "f"), "f64": (53, -1074, 1023, "Q", "d")}


def to_bits(fmt, x):
    return struct.unpack(fmt[3], struct.pack(fmt[4], x))[0]


def from_bits(fmt, bits):
    return struct.unpack(fmt[4], struct.pack(fmt[3], bits))[0]


def rounded(fmt, exact, mode, zero_sign=0, exact_root=None):
    """An exact fraction in a format, as a float. exact_root: what the square of the exact result is."""
    digits, least, greatest, _, _ = fmt
    if exact_root is not None:
        # The square root, as a fraction with enough digits that is never on a boundary unless exact.
        scale = 1 << 2400
        root = isqrt(exact_root.numerator * scale * scale // exact_root.denominator)
        exact = Fraction(root, scale)
        if exact * exact != exact_root:
            exact += Fraction(1, 2 * scale)
    if exact == 0:
        return -0.0 if zero_sign else 0.0
    negative = exact < 0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = max(exponent - digits + 1, least)
    count = size / Fraction(2) ** unit
    whole = count.numerator // count.denominator
    rest = count - whole
    up = {
        "nearest": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        "zero": False,
        "up": rest > 0 and not negative,
        "down": rest > 0 and negative,
    }[mode]
    value = (whole + up) * Fraction(2) ** unit
    largest = (2**digits - 1) * Fraction(2) ** (greatest - digits + 1)
    if value > largest:
        to_infinity = mode == "nearest" or (mode == "up" and not negative) or (mode == "down" and negative)
        value = float("inf") if to_infinity else float(largest)
    else:
        value = float(value)
    return -value if negative else value


MODES = ["nearest", "zero", "up", "down"]


def row(fmt, operation, operands):
    a, b, c = (Fraction(x) for x in operands)
    signs = [str(x).startswith("-") for x in operands]
    results = []
    for mode in MODES:
        zero = mode == "down"
        if operation == "add":
            exact = a + b
            if operands[0] == 0 and operands[1] == 0 and signs[0] == signs[1]:
                zero = signs[0]
            results.append(rounded(fmt, exact, mode, zero))
        elif operation == "sub":
            exact = a - b
            if operands[0] == 0 and operands[1] == 0 and signs[0] != signs[1]:
                zero = signs[0]
            results.append(rounded(fmt, exact, mode, zero))
        elif operation == "mul":
            results.append(rounded(fmt, a * b, mode, signs[0] != signs[1]))
        elif operation == "div":
            results.append(rounded(fmt, a / b, mode, signs[0] != signs[1]))
        elif operation == "recip":
            results.append(rounded(fmt, 1 / a, mode, signs[0]))
        elif operation == "sqrt":
            results.append(rounded(fmt, None, mode, exact_root=abs(a)))
        elif operation == "mul_add":
            exact = a * b + c
            if (operands[0] == 0 or operands[1] == 0) and operands[2] == 0 and (signs[0] != signs[1]) == signs[2]:
                zero = signs[2]
            results.append(rounded(fmt, exact, mode, zero))
    if operation == "sqrt":
        operands = (abs(operands[0]), operands[1], operands[2])
    bits = [to_bits(fmt, x) for x in operands], [to_bits(fmt, x) for x in results]
    return "([%s], [%s])" % tuple(", ".join("0x%x" % x for x in part) for part in bits)


def operands(name, fmt, operation):
    digits, least, greatest, _, _ = fmt
    one_up = 1 + 2.0 ** (1 - digits)
    one_down = 1 - 2.0 ** -digits
    largest = (2 - 2.0 ** (1 - digits)) * 2.0**greatest
    subnormal = 2.0**least
    half_unit = 2.0**-digits
    special = [1.0, -1.0, 0.1 if name == "f64" else from_bits(fmt, to_bits(fmt, 0.1)), one_up, one_down, largest, -largest, subnormal,
               -subnormal, 3 * subnormal, half_unit, -half_unit, 3.0, 2.0 ** (greatest // 2 + 1), 2.0 ** (least // 2)]
    pairs = []
    width = {"f32": 32, "f64": 64}[name]
    while len(pairs) < 24:
        x, y, z = (random.choice(special) for _ in range(3))
        pairs.append((x, y, z))
    while len(pairs) < 40:
        x, y, z = (from_bits(fmt, random.getrandbits(width)) for _ in range(3))
        if all(v == v and abs(v) != float("inf") and v != 0 for v in (x, y, z)):
            pairs.append((x, y, z))
    while len(pairs) < 56:
        x, y, z = (from_bits(fmt, to_bits(fmt, random.uniform(-4, 4))) for _ in range(3))
        pairs.append((x, y, z))
    if operation in ("add", "sub", "mul_add"):
        pairs += [(0.0, 0.0, 0.0), (-0.0, 0.0, 0.0), (0.0, -0.0, -0.0), (-0.0, -0.0, -0.0), (1.5, -1.5, 2.25), (1.5, 1.5, -2.25)]
    return pairs


OPERATIONS = ["add", "sub", "mul", "div", "recip", "sqrt", "mul_add"]
print("//! Arithmetic in four rounding modes. Written by reference/rounding.py; do not edit.\n")
for name, fmt in FORMATS.items():
    integer = {"f32": "u32", "f64": "u64"}[name]
    print("/// Each operation; the bits of its operands; those of its results to nearest, toward zero, up and down.")
    print("#[rustfmt::skip]")
    print("#[allow(clippy::unreadable_literal, clippy::type_complexity)]")
    print("pub(super) const %s: [(&str, &[([%s; 3], [%s; 4])]); %d] = [" % (name.upper(), integer, integer, len(OPERATIONS)))
    for operation in OPERATIONS:
        print('    ("%s", &[' % operation)
        for three in operands(name, fmt, operation):
            print("        " + row(fmt, operation, three) + ",")
        print("    ]),")
    print("];\n")
