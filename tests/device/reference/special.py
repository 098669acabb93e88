"""Writes tests/device/numbers/special_table.rs: special functions at arguments that f32 has, with 60 digits, rounded to f64.

Needs mpmath. Run it here: python3 special.py > ../tests/device/numbers/special_table.rs
"""

import struct

from mpmath import mp, mpf

mp.dps = 60


def narrow(x):
    return struct.unpack("f", struct.pack("f", x))[0]


ALL = [-5.5, -3.0, -1.75, -1.0, -0.5, -0.1, -1e-3, -1e-10, 1e-20, 1e-6, 0.01, 0.25, 0.4999, 0.75, 0.99, 1.0, 1.5, 2.25, 3.5, 5.0, 7.5]
UNIT = [-0.9999, -0.99, -0.9, -0.75, -0.5001, -0.5, -0.25, -1e-3, -1e-12, 1e-30, 1e-8, 0.1, 0.3, 0.45, 0.6, 0.8, 0.95, 0.999, 0.99999]
SHARE = [1e-30, 1e-20, 1e-10, 1e-5, 1e-3, 0.02, 0.09, 0.11, 0.25, 0.45, 0.4999, 0.55, 0.7, 0.9, 0.99, 0.9999]
POSITIVE = [1e-10, 1e-4, 0.03, 0.3, 0.9, 1.3, 2.0, 2.9, 4.5, 5.9, 7.3]

mpf_ = mpf
sqrt = mp.sqrt


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfcinv(x):
    # mpmath has erfinv; with 60 digits 1 - x loses nothing that matters down to 1e-30.
    return mp.erfinv(1 - x)


def normcdf(x):
    return mp.erfc(-x / sqrt(mpf(2))) / 2


def normcdfinv(x):
    return -sqrt(mpf(2)) * erfcinv(2 * x)


FUNCTIONS = [
    ("erf", mp.erf, ALL),
    ("erfc", mp.erfc, ALL + [9.0]),
    ("erfcx", erfcx, ALL + [-8.0, 9.0, 15.0, 25.0, 40.0, 1000.0, 1e15]),
    ("erfinv", mp.erfinv, UNIT),
    ("erfcinv", erfcinv, SHARE + [1.1, 1.4, 1.6, 1.95, 1.9999]),
    ("normcdf", normcdf, ALL + [-12.0, -9.0, 9.0]),
    ("normcdfinv", normcdfinv, SHARE),
    ("tgamma", mp.gamma, [-4.5, -2.5, -1.1, -0.5, -1e-3, 1e-10, 1e-3, 0.5, 1.0, 1.5, 2.0, 3.7, 10.0, 20.25, 30.5, 34.0]),
    ("lgamma", lambda x: mp.log(abs(mp.gamma(x))), [-1.5, -0.5, -1e-3, 1e-10, 1e-3, 0.5, 0.9, 1.3, 1.7, 2.2, 3.7, 10.0, 100.25, 1e5, 1e10, 1e30]),
    ("j0", lambda x: mp.besselj(0, x), [-7.0, -2.0] + POSITIVE + [11.0, 40.0, 100.0]),
    ("j1", lambda x: mp.besselj(1, x), [-7.0, -2.0] + POSITIVE + [11.0, 40.0, 100.0]),
    ("j2", lambda x: mp.besselj(2, x), [0.9, 2.9, 7.3, 11.0, 40.0]),
    ("j5", lambda x: mp.besselj(5, x), [0.9, 2.9, 7.3, 11.0, 40.0]),
    ("y0", lambda x: mp.bessely(0, x), POSITIVE + [11.0, 40.0, 100.0]),
    ("y1", lambda x: mp.bessely(1, x), POSITIVE + [11.0, 40.0, 100.0]),
    ("y2", lambda x: mp.bessely(2, x), [0.3, 0.9, 2.9, 7.3, 11.0, 40.0]),
    ("y5", lambda x: mp.bessely(5, x), [0.3, 0.9, 2.9, 7.3, 11.0, 40.0]),
    ("cyl_bessel_i0", lambda x: mp.besseli(0, x), [-20.0, -3.0] + POSITIVE + [10.0, 18.0, 29.0, 31.0, 60.0, 85.0]),
    ("cyl_bessel_i1", lambda x: mp.besseli(1, x), [-20.0, -3.0] + POSITIVE + [10.0, 18.0, 29.0, 31.0, 60.0, 85.0]),
    ("rcbrt", lambda x: mp.sign(x) / mp.cbrt(abs(x)), [-1e20, -27.0, -0.3, 1e-30, 1e-3, 0.125, 1.0, 3.0, 1e10, 1e30]),
    ("exp10", lambda x: mp.power(10, x), [-35.0, -7.25, -1.0, -1e-5, 1e-20, 0.3, 1.0, 2.5, 10.0, 37.5]),
    ("sin_pi", mp.sinpi, ALL + [-1e6, 1234.25, 1e5, 8388607.5]),
    ("cos_pi", mp.cospi, ALL + [-1e6, 1234.25, 1e5, 8388607.5]),
    ("tan_pi", lambda x: mp.sinpi(x) / mp.cospi(x), [-3.2, -0.3, -1e-5, 1e-20, 0.1, 0.25, 0.4, 0.7, 2.3, 100.1]),
]


def literal(x):
    value = float(x)
    if value == 0:
        return "0.0"
    text = repr(value)
    return text if "." in text or "e" in text else text + ".0"


print("//! Special functions at arguments that f32 has. Written by reference/special.py; do not edit.\n")
print("/// Argument and value.")
print("pub(super) type Row = (f64, f64);\n")
print("/// Each function and its rows.")
print("#[rustfmt::skip]")
print("#[allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal)]")
print("pub(super) const TABLE: [(&str, &[Row]); %d] = [" % len(FUNCTIONS))
for name, function, arguments in FUNCTIONS:
    print('    ("%s", &[' % name)
    rows = []
    for argument in arguments:
        x = narrow(argument)
        rows.append("(%s, %s)" % (literal(x), literal(function(mpf(x)))))
    for i in range(0, len(rows), 2):
        print("        " + ", ".join(rows[i : i + 2]) + ",")
    print("    ]),")
print("];")
