"""Writes tests/device/complex_table.rs: functions of complex numbers at arguments that f32 has, with 60 digits.

Needs mpmath. Run it here: python3 complex.py > ../tests/device/complex_table.rs
"""

import struct

from mpmath import mp, mpc, mpf

mp.dps = 60


def narrow(x):
    return struct.unpack("f", struct.pack("f", x))[0]


X = [(0.5, 0.25), (-1.5, 2.0), (3.0, -0.1), (-0.3, -4.0), (1.0, 1e-4), (-2.0, 1e-3), (0.7, -0.7), (5.5, 3.25), (-8.0, 0.5), (1e-3, 1e-6), (0.1, 1.5)]
Y = [(2.0, -1.0), (0.25, 0.75), (-1.25, 3.0), (0.1, -0.2), (4.0, 0.5), (-0.5, -2.0), (1.5, 1.0), (-3.0, 0.3), (0.01, 7.0), (2.5, 2.5), (-1.0, 0.125)]
FUNCTIONS = [
    ("add", lambda x, y: x + y), ("sub", lambda x, y: x - y), ("mul", lambda x, y: x * y), ("div", lambda x, y: x / y),
    ("abs", lambda x, y: mpc(abs(x), 0)), ("arg", lambda x, y: mpc(mp.arg(x), 0)), ("conj", lambda x, y: mp.conj(x)),
    ("recip", lambda x, y: 1 / x), ("sqrt", lambda x, y: mp.sqrt(x)), ("exp", lambda x, y: mp.exp(x)), ("ln", lambda x, y: mp.log(x)),
    ("powf", lambda x, y: x ** mpf(2.5)), ("powc", lambda x, y: x ** y), ("powi", lambda x, y: x ** -3),
    ("sin", lambda x, y: mp.sin(x)), ("cos", lambda x, y: mp.cos(x)), ("tan", lambda x, y: mp.tan(x)),
    ("sinh", lambda x, y: mp.sinh(x)), ("cosh", lambda x, y: mp.cosh(x)), ("tanh", lambda x, y: mp.tanh(x)),
    ("asin", lambda x, y: mp.asin(x)), ("acos", lambda x, y: mp.acos(x)), ("atan", lambda x, y: mp.atan(x)),
    ("asinh", lambda x, y: mp.asinh(x)), ("acosh", lambda x, y: mp.acosh(x)), ("atanh", lambda x, y: mp.atanh(x)),
]


def literal(x):
    return repr(float(x))


def pair(z):
    return "[%s, %s]" % (literal(z.real), literal(z.imag))


ARGUMENTS = [(mpc(*map(narrow, x)), mpc(*map(narrow, y))) for x, y in zip(X, Y)]
print("//! Functions of complex numbers at arguments that f32 has. Written by reference/complex.py; do not edit.\n")
print("/// Pairs of arguments.")
print("#[rustfmt::skip]")
print("pub(super) const ARGUMENTS: [[[f64; 2]; 2]; %d] = [" % len(ARGUMENTS))
for x, y in ARGUMENTS:
    print("    [%s, %s]," % (pair(x), pair(y)))
print("];\n")
print("/// Each function and its values.")
print("#[rustfmt::skip]")
print("#[allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal)]")
print("pub(super) const TABLE: [(&str, [[f64; 2]; %d]); %d] = [" % (len(ARGUMENTS), len(FUNCTIONS)))
for name, function in FUNCTIONS:
    values = [pair(function(x, y)) for x, y in ARGUMENTS]
    print('    ("%s", [' % name)
    for i in range(0, len(values), 2):
        print("        " + ", ".join(values[i : i + 2]) + ",")
    print("    ]),")
print("];")
