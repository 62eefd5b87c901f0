"""exp, log, tanh, atan2, minimum and maximum of vectors, lane by lane.

The first four use polynomials and are functions, which kernels call where no values are in registers. They compute in
double precision for every dtype: the error of a float32 is at most 0.51 units in the last place, that of a float64 less
than 2. Infinity, NaN and signed zeros give the same results as C's functions. Lanes with such a special result go
through the arithmetic with a harmless argument, and NaN is never compared as a number. So the same floating point flags
are raised as by C's functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, log, pi
from struct import pack, unpack

from ...program.program import Op
from .emit import Function, double_literal

Real = str | float  # a vector, or a number in all lanes
Integer = str | int

SHIFT = 1.5 * 2.0**52  # adding it to a number rounds the number to an integer, which is then in the last bits
MANTISSA = 52  # bits
BIAS = 1023  # of the exponent
SIGN = -(1 << 63)
HUGE = 2.0**1000  # where sums might overflow

# ln 2 in two parts, such that products of the first with an exponent are exact; pi/4 and its rounding error
LN2 = (0.6931471803691238, 1.9082149292705877e-10)
QUARTER = (pi / 4, 3.061616997868383e-17)  # times 3 or 4 the first is exact

# exp r = 1 + r + r**2 EXP(r), |r| <= ln(2) / 2, and atan t = t + t**3 ATAN(t**2), |t| <= 1/2: by Chebyshev
# polynomials, to 2**-60
EXP = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326084, 0.0013888888888883711, 0.0001984126987500228,
    2.480158732567746e-05, 2.755725517000089e-06, 2.755727347871858e-07, 2.5105312729622103e-08, 2.09147553258932e-09,
)  # fmt: skip
ATAN = (
    -0.3333333333333333, 0.19999999999999485, -0.1428571428559874, 0.11111111100881761, -0.09090908618865388,
    0.07692294677482635, -0.06666435144143137, 0.05879573107799684, -0.052400641544110685, 0.04627870086418654,
    -0.03806224794996687, 0.024999689507521367, -0.009211063504627926,
)  # fmt: skip
# log(1 + f) = f - f**2 / 2 + s (f**2 / 2 + s**2 LOG(s**2)), s = f / (2 + f): minimax coefficients of fdlibm
LOG = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
# tanh a = a + a**3 ABOVE(a**2) / BELOW(a**2) up to 5/8: of Cephes
ABOVE = (-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1)
BELOW = (4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0)


class Doubles:
    """Arithmetic on vectors of doubles, with as many lanes as the module's vectors."""

    def __init__(self, f: Function):
        self.f, self.lanes = f, f.module.lanes
        self.kind, self.integers, self.mask = (f"<{self.lanes} x {of}>" for of in ("double", "i64", "i1"))

    def _real(self, x: Real) -> str:
        return x if isinstance(x, str) else f"<{', '.join([f'double {double_literal(x)}'] * self.lanes)}>"

    def _integer(self, x: Integer) -> str:
        return x if isinstance(x, str) else f"<{', '.join([f'i64 {x}'] * self.lanes)}>"

    def add(self, a: Real, b: Real) -> str:
        return self.f.let(f"fadd {self.kind} {self._real(a)}, {self._real(b)}")

    def sub(self, a: Real, b: Real) -> str:
        return self.f.let(f"fsub {self.kind} {self._real(a)}, {self._real(b)}")

    def mul(self, a: Real, b: Real) -> str:
        return self.f.let(f"fmul {self.kind} {self._real(a)}, {self._real(b)}")

    def div(self, a: Real, b: Real) -> str:
        return self.f.let(f"fdiv {self.kind} {self._real(a)}, {self._real(b)}")

    def fma(self, a: Real, b: Real, c: Real) -> str:
        """Return a b + c, rounded once if the processor has fused operations."""
        if not self.f.module.target.fused:
            return self.add(self.mul(a, b), c)
        operands = ", ".join(f"{self.kind} {self._real(x)}" for x in (a, b, c))
        return self.f.let(f"call {self.kind} @llvm.fma.v{self.lanes}f64({operands})")

    def polynomial(self, coefficients: Sequence[float], x: str) -> str:
        """Evaluate a polynomial by Horner's rule; the lowest coefficient is the first."""
        value: Real = coefficients[-1]
        for c in coefficients[-2::-1]:
            value = self.fma(value, x, c)
        return self._real(value)

    def bits(self, x: str) -> str:
        return self.f.let(f"bitcast {self.kind} {x} to {self.integers}")

    def real(self, bits: str) -> str:
        return self.f.let(f"bitcast {self.integers} {bits} to {self.kind}")

    def on_bits(self, operation: str, a: Integer, b: Integer) -> str:
        return self.f.let(f"{operation} {self.integers} {self._integer(a)}, {self._integer(b)}")

    def compare(self, how: str, a: Integer, b: Integer) -> str:
        return self.f.let(f"icmp {how} {self.integers} {self._integer(a)}, {self._integer(b)}")

    def is_nan(self, x: str) -> str:
        return self.f.let(f"fcmp uno {self.kind} {x}, {x}")

    def is_number(self, x: str) -> str:
        return self.f.let(f"fcmp ord {self.kind} {x}, {x}")

    def above(self, a: str, b: str) -> str:
        """Return the mask of a > b for numbers that are not NaN."""
        return self.f.let(f"fcmp ogt {self.kind} {a}, {b}")

    def join(self, operation: str, a: str, b: str) -> str:
        """Combine two masks by a logical operation."""
        return self.f.let(f"{operation} {self.mask} {a}, {b}")

    def select(self, mask: str, a: Real, b: Real) -> str:
        return self.f.let(f"select {self.mask} {mask}, {self.kind} {self._real(a)}, {self.kind} {self._real(b)}")

    def select_bits(self, mask: str, a: Integer, b: Integer) -> str:
        kind = self.integers
        return self.f.let(f"select {self.mask} {mask}, {kind} {self._integer(a)}, {kind} {self._integer(b)}")

    def with_sign(self, size: str, bits: str) -> str:
        """Return ``size``, which is not negative, with the sign bit of ``bits``."""
        return self.real(self.on_bits("or", self.bits(size), self.on_bits("and", bits, SIGN)))

    def power_of_two(self, exponent: str) -> str:
        """Return 2 to the power of an integer."""
        biased = self.on_bits("add", self.bits(self.add(exponent, SHIFT)), BIAS)
        return self.real(self.on_bits("shl", biased, MANTISSA))


def emit_function(f: Function, op: Op, args: Sequence[str]) -> str:
    """Call EXP, LOG, TANH or ATAN2."""
    m, name = f.module, f"@vector_{op.name.lower()}"
    if m.once(name):
        names = ("%y", "%x")[-len(args) :]
        parameters = ", ".join(f"{m.vector} {each}" for each in names)
        with Function(m, f"define internal {m.vector} {name}({parameters}) noinline nounwind") as body:
            v = Doubles(body)
            wide = [each if m.item == 8 else body.let(f"fpext {m.vector} {each} to {v.kind}") for each in names]
            result = FUNCTIONS[op](v, *wide)
            if m.item == 4:
                result = body.let(f"fptrunc {v.kind} {result} to {m.vector}")
            body.do(f"ret {m.vector} {result}")
    return f.let(f"call {m.vector} {name}({', '.join(f'{m.vector} {each}' for each in args)})")


def emit_choice(f: Function, larger: bool, a: str, b: str) -> str:
    """Return the minimum or maximum of two numbers; NaN if one is NaN, and -0 is less than 0.

    They are compared as integers: the processor's own instructions raise "invalid" for NaN, on AMD64 ignore NaN, and
    consider zeros equal.
    """
    m, mask = f.module, f"<{f.module.lanes} x i1>"
    first = f.let(f"icmp {'sgt' if larger else 'slt'} {m.integers} {_ordered(f, a)}, {_ordered(f, b)}")
    chosen = f.let(f"select {mask} {first}, {m.vector} {a}, {m.vector} {b}")
    for x in (a, b):  # one after the other: for both at once AArch64 would use comparisons that raise "invalid"
        unordered = f.let(f"fcmp uno {m.vector} {x}, {x}")
        chosen = f.let(f"select {mask} {unordered}, {m.vector} {x}, {m.vector} {chosen}")
    return chosen


def emit_comparison(f: Function, or_equal: bool, a: str, b: str) -> str:
    """Return 1 where a < b, or a <= b, else 0, also for NaN; compared as integers, as in ``emit_choice``."""
    m, mask = f.module, f"<{f.module.lanes} x i1>"
    numbers = [f.binary("fadd", x, "zeroinitializer") for x in (a, b)]  # zeros of one sign
    holds = f.let(f"icmp {'sle' if or_equal else 'slt'} {m.integers} {', '.join(_ordered(f, x) for x in numbers)}")
    result = f.let(f"select {mask} {holds}, {m.vector} {f.constant(1.0)}, {m.vector} zeroinitializer")
    for x in (a, b):
        unordered = f.let(f"fcmp uno {m.vector} {x}, {x}")
        result = f.let(f"select {mask} {unordered}, {m.vector} zeroinitializer, {m.vector} {result}")
    return result


def _ordered(f: Function, x: str) -> str:
    """Return the bits of a number as an integer that is ordered as the numbers are."""
    m = f.module
    bits = f.let(f"bitcast {m.vector} {x} to {m.integers}")
    places = [f"<{', '.join([f'{m.integer} {n}'] * m.lanes)}>" for n in (8 * m.item - 1, 1)]
    ones = f.let(f"lshr {m.integers} {f.let(f'ashr {m.integers} {bits}, {places[0]}')}, {places[1]}")
    return f.let(f"xor {m.integers} {bits}, {ones}")


def _bits_of(number: float) -> int:
    return unpack("<q", pack("<d", number))[0]


def _power(v: Doubles, x: str) -> tuple[str, str]:
    """Return k and p with exp x = 2**k p and p near one."""
    k = v.sub(v.fma(x, 1 / log(2), SHIFT), SHIFT)
    r = v.fma(k, -LN2[1], v.fma(k, -LN2[0], x))
    return k, v.add(1.0, v.fma(v.mul(r, r), v.polynomial(EXP, r), r))


def _exp(v: Doubles, x: str) -> str:
    bits = v.bits(x)
    size = v.on_bits("and", bits, ~SIGN)
    no_number = v.compare("sge", size, _bits_of(inf))
    limit = v.on_bits("or", v.on_bits("and", bits, SIGN), _bits_of(750.0))  # beyond it the result is infinity or zero
    limited = v.select_bits(v.compare("sgt", size, _bits_of(750.0)), limit, bits)
    k, p = _power(v, v.select(no_number, 0.0, v.real(limited)))
    half = v.sub(v.fma(k, 0.5, SHIFT), SHIFT)  # in two steps: 2**k may be out of range even if the result is not
    result = v.mul(v.mul(p, v.power_of_two(half)), v.power_of_two(v.sub(k, half)))
    itself = v.select(v.compare("eq", bits, _bits_of(-inf)), 0.0, x)
    return v.select(no_number, itself, result)


def _log(v: Doubles, x: str) -> str:
    x_bits = v.bits(x)
    tiny = v.compare("ult", x_bits, 1 << MANTISSA)  # subnormal
    bits = v.bits(v.mul(x, v.select(tiny, 2.0**54, 1.0)))
    # x = 2**e m with m from sqrt(1/2) to sqrt(2); e is in the last bits of a number
    from_root = v.on_bits("sub", bits, _bits_of(0.5**0.5) - (BIAS << MANTISSA))
    biased = v.on_bits("or", v.on_bits("lshr", from_root, MANTISSA), _bits_of(2.0**52))
    e = v.sub(v.real(biased), v.select(tiny, 2.0**52 + BIAS + 54, 2.0**52 + BIAS))
    rest = v.on_bits("and", from_root, (1 << MANTISSA) - 1)
    f = v.sub(v.real(v.on_bits("add", rest, _bits_of(0.5**0.5))), 1.0)

    zero = v.compare("eq", v.on_bits("shl", x_bits, 1), 0)
    itself = v.join("or", v.is_nan(x), v.compare("eq", x_bits, _bits_of(inf)))
    negative = v.join("and", v.is_number(x), v.compare("slt", x_bits, 0))
    outside = v.join("or", zero, negative)
    # -1 / 0 and 0 / 0 raise the flags
    above = v.select(outside, v.select(zero, -1.0, 0.0), f)
    quotient = v.div(above, v.select(outside, 0.0, v.add(2.0, f)))
    s = v.select(outside, 0.0, quotient)
    square = v.mul(s, s)
    half = v.mul(v.mul(0.5, f), f)
    series = v.mul(square, v.polynomial(LOG, square))
    small = v.fma(s, v.add(half, series), v.mul(e, LN2[1]))
    result = v.fma(e, LN2[0], v.sub(f, v.sub(half, small)))
    return v.select(itself, x, v.select(outside, quotient, result))


def _tanh(v: Doubles, x: str) -> str:
    bits = v.bits(x)
    size = v.on_bits("and", bits, ~SIGN)
    limited = v.select_bits(v.compare("sgt", size, _bits_of(20.0)), _bits_of(20.0), size)  # tanh is 1 beyond
    small = v.compare("slt", limited, _bits_of(0.625))
    a = v.real(limited)
    k, p = _power(v, v.add(a, a))
    square = v.mul(a, a)
    above = v.select(small, v.mul(square, v.polynomial(ABOVE, square)), 2.0)
    below = v.select(small, v.polynomial(BELOW, square), v.fma(p, v.power_of_two(k), 1.0))
    quotient = v.div(above, below)
    result = v.select(small, v.fma(a, quotient, a), v.sub(1.0, quotient))
    return v.select(v.is_nan(x), x, v.with_sign(result, bits))


def _atan2(v: Doubles, y: str, x: str) -> str:
    bits_y, bits_x = v.bits(y), v.bits(x)
    size_y, size_x = (v.on_bits("and", bits, ~SIGN) for bits in (bits_y, bits_x))
    infinite = v.join("and", *(v.compare("eq", size, _bits_of(inf)) for size in (size_y, size_x)))
    no_number = v.join("or", *(v.compare("sgt", size, _bits_of(inf)) for size in (size_y, size_x)))
    equal = v.join("or", infinite, no_number)  # both arguments are replaced by 1
    size_y, size_x = (v.select_bits(equal, _bits_of(1.0), size) for size in (size_y, size_x))
    steep = v.compare("sgt", size_y, size_x)
    near, far = v.select_bits(steep, size_x, size_y), v.select_bits(steep, size_y, size_x)
    scale = v.select(v.compare("sgt", far, _bits_of(HUGE)), 2.0**-60, 1.0)
    a, b = v.mul(v.real(near), scale), v.mul(v.real(far), scale)
    # t is from -1/3 to 1/2; its angle is added to pi/4 or to zero; a - b is exact
    wide = v.above(a, v.mul(b, 0.5))
    below = v.select(wide, v.add(a, b), v.select(v.compare("eq", far, 0), 1.0, b))
    t = v.div(v.select(wide, v.sub(a, b), a), below)
    # the angle is counted from a multiple of pi/4, in one direction or the other
    left = v.compare("slt", bits_x, 0)
    sign = v.select_bits(v.join("xor", steep, left), SIGN, 0)
    t, quarters = (v.real(v.on_bits("xor", v.bits(each), sign)) for each in (t, v.select(wide, 1.0, 0.0)))
    quarters = v.add(v.select(steep, 2.0, v.select(left, 4.0, 0.0)), quarters)
    start = v.mul(quarters, QUARTER[0])
    square = v.mul(t, t)
    rest = v.fma(v.mul(t, square), v.polynomial(ATAN, square), v.mul(quarters, QUARTER[1]))
    total = v.add(start, t)
    lost = v.add(v.sub(start, total), t)  # rounding error of the total; t is smaller than start, or start is zero
    result = v.add(total, v.add(lost, rest))
    itself = v.select(v.is_nan(y), y, x)
    return v.select(no_number, itself, v.with_sign(result, bits_y))


FUNCTIONS: dict[Op, Callable[..., str]] = {Op.EXP: _exp, Op.LOG: _log, Op.TANH: _tanh, Op.ATAN2: _atan2}
