"""Sine and cosine of vectors, both from one reduction of the argument.

``x`` is reduced to ``r = x - n pi/2`` in ``[-pi/4, pi/4]`` by subtracting pi/2 in three parts (Cody and Waite). Then
two polynomials give the sine and cosine of ``r``, and the last two bits of ``n`` determine their roles and signs. Lanes
with ``n`` beyond ``NEAR`` are reduced one by one with 192 bits of 2/pi (Payne and Hanek); infinity and NaN give NaN.
The result of a lane depends on that lane alone. The error is below 2 units in the last place everywhere, or below 2.5
without fused operations.

Several vectors are computed together, so that their chains of operations fill each other's latencies. Comparisons are
made on integers: ordered comparisons of NaN would raise the processor's "invalid" flag, which NumPy reports as a
warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from math import pi

from .emit import Function, Module, double_literal

NEAR = 2**16  # largest n for which n times the first part of pi/2 is exact

# pi/2 in three parts. For fused arithmetic each part is as long as the type allows. All are positive, so -0 stays -0.
FUSED_PARTS = {
    "double": ("0x1.921fb54442d18p+0", "0x1.1a62633145c06p-54", "0x1.c1cd129024e09p-107"),
    "float": ("0x1.921fb4p+0", "0x1.4442dp-24", "0x1.84698ap-48"),
}
# Without fused arithmetic the products with n must be exact: the first two parts have 33 bits.
SPLIT_PARTS = ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69")

# sin r = r + r**3 S(r**2), cos r = 1 - r**2 / 2 + r**4 C(r**2);
# minimax coefficients of fdlibm and Cephes, lowest first
SINE = {
    "double": (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
               2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10),
    "float": (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
}  # fmt: skip
COSINE = {
    "double": (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
               -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11),
    "float": (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
}  # fmt: skip

# Bits of 2/pi after 64 zero bits, enough for the largest double
TWO_OVER_PI = (
    0x0, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
    0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB, 0xF0CFBC209AF4361D,
)  # fmt: skip
HALF_PI_63 = 14488038916154245685  # pi/2 times 2**63, unsigned


def emit_sincos(f: Function, label: str, xs: Sequence[str], leave: Callable[[int, str, str], None]):
    """Compute sine and cosine of several vectors; ``leave(k, sine, cosine)`` stores those of vector k.

    ``label`` is a unique label in ``f``. A function is called only if a lane is far from zero.
    """
    m = f.module
    pair = f"{{{m.vector}, {m.vector}}}"
    if m.once("sincos"):
        m.functions.append(HUGE)
        with Function(m, f"define internal {pair} @sincos({m.vector} %x) noinline nounwind cold") as far:
            _emit_far(far)
    shifted = [_shift(f, x) for x in xs]
    f.do(f"br i1 {_any(f, _far(f, shifted))}, label %{label}.far, label %{label}.near, !prof !1")
    f.label(f"{label}.far")
    for k, x in enumerate(xs):
        answer = f.let(f"call {pair} @sincos({m.vector} {x})")
        leave(k, *(f.let(f"extractvalue {pair} {answer}, {j}") for j in range(2)))
    f.do(f"br label %{label}.end")
    f.label(f"{label}.near")
    for k, both in enumerate(_finish(f, *_reduce(f, xs, shifted))):
        leave(k, *both)
    f.start(f"{label}.end")


def _splat(m: Module, number: int) -> str:
    return f"<{', '.join([f'{m.integer} {number}'] * m.lanes)}>"


def _bits(f: Function, x: str) -> str:
    return f.let(f"bitcast {f.module.vector} {x} to {f.module.integers}")


def _start(m: Module) -> float:
    """Return a number whose addition rounds to an integer, which is then in the last bits of the sum."""
    return 1.5 * 2.0 ** (52 if m.item == 8 else 23)


def _magic(f: Function) -> str:
    """Return the same number plus NEAR, so that the integer is not negative."""
    return f.constant(_start(f.module) + NEAR)


def _shift(f: Function, x: str) -> str:
    """Return a number with n + NEAR in its last bits."""
    return f.fma(x, f.constant(2 / pi), _magic(f))


def _far(f: Function, shifted: Sequence[str]) -> str:
    """Return integers that are not zero in lanes where an n is beyond NEAR, infinite or NaN."""
    m = f.module
    seen = ""
    for each in shifted:
        other = f.let(f"xor {m.integers} {_bits(f, each)}, {_splat(m, m.bits(_start(m)))}")
        seen = f.let(f"or {m.integers} {seen}, {other}") if seen else other
    return f.let(f"and {m.integers} {seen}, {_splat(m, -2 * NEAR)}")


def _any(f: Function, bits: str) -> str:
    """Return whether a vector of integers has any bit set."""
    m = f.module
    if m.target.vector_bytes == 64:
        some = f.let(f"icmp ne {m.integers} {bits}, zeroinitializer")
        return f.let(f"icmp ne i{m.lanes} {f.let(f'bitcast <{m.lanes} x i1> {some} to i{m.lanes}')}, 0")
    whole = f"i{8 * m.row}"
    return f.let(f"icmp ne {whole} {f.let(f'bitcast {m.integers} {bits} to {whole}')}, 0")


def _reduce(f: Function, xs: Sequence[str], shifted: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return r, r with more digits, and integers whose last two bits are those of n.

    With parts of full length, the third part matters only for a tiny r, and only for its sine. The first r is available
    sooner and sufficient for the polynomials.
    """
    m = f.module
    if m.item == 4 and not m.target.fused:
        reduced = [_reduce_in_double(f, x) for x in xs]
        rests = [r for r, _ in reduced]
        return rests, rests, [n for _, n in reduced]
    numbers = [f.binary("fsub", each, _magic(f)) for each in shifted]
    rests = [list(xs)]
    for part in FUSED_PARTS[m.real] if m.target.fused else SPLIT_PARTS:
        row = f.constant(float.fromhex(part))
        rests.append([f.fnma(n, row, rest) for n, rest in zip(numbers, rests[-1], strict=True)])
    return rests[2 if m.target.fused else 3], rests[3], [_bits(f, each) for each in shifted]


def _reduce_in_double(f: Function, x: str) -> tuple[str, str]:
    """Reduce float32 without fused arithmetic in double: a float32 has too few bits for exact products with n."""
    m = f.module
    wide = f"<{m.lanes} x double>"

    def operate(operation: str, a: str, b: float | str) -> str:
        if isinstance(b, float):
            b = f"<{', '.join([f'double {double_literal(b)}'] * m.lanes)}>"
        return f.let(f"{operation} {wide} {a}, {b}")

    x = f.let(f"fpext {m.vector} {x} to {wide}")
    shifted = operate("fadd", operate("fmul", x, 2 / pi), 1.5 * 2.0**52)
    n = operate("fsub", shifted, 1.5 * 2.0**52)
    for part in SPLIT_PARTS:
        x = operate("fsub", x, operate("fmul", n, float.fromhex(part)))
    bits = f.let(f"bitcast {wide} {shifted} to <{m.lanes} x i64>")
    r = f.let(f"fptrunc {wide} {x} to {m.vector}")
    return r, f.let(f"trunc <{m.lanes} x i64> {bits} to {m.integers}")


def _finish(f: Function, r: Sequence[str], exact: Sequence[str], n: Sequence[str]) -> list[tuple[str, str]]:
    """Return sines and cosines from r and n."""
    m = f.module
    square = [f.binary("fmul", x, x) for x in r]
    cube = [f.binary("fmul", x, y) for x, y in zip(r, square, strict=True)]

    def polynomials(coefficients: Sequence[float]) -> Iterator[list[str]]:
        """Evaluate polynomials by Horner's rule, and yield after each term."""
        top, *rest = (f.constant(c) for c in reversed(coefficients))
        values = [top] * len(r)
        for c in rest:
            values = [f.fma(value, x, c) for value, x in zip(values, square, strict=True)]
            yield values

    sines, cosines = [], []
    for s, c in zip_longest(polynomials(SINE[m.real]), polynomials((1.0, -0.5, *COSINE[m.real]))):  # alternating
        sines, cosines = s or sines, c or cosines
    sines = [f.fma(x, s, e) for x, s, e in zip(cube, sines, exact, strict=True)]
    sines = [_with_sign(f, s, e) for s, e in zip(sines, exact, strict=True)]  # the sum of -0 and 0 is 0
    return [_turned(f, s, c, k) for s, c, k in zip(sines, cosines, n, strict=True)]


def _with_sign(f: Function, value: str, other: str) -> str:
    """Return ``value``, which is zero or has the sign of ``other``, with the sign bit of ``other``."""
    m = f.module
    sign = f.let(f"and {m.integers} {_bits(f, other)}, {_splat(m, -(1 << (8 * m.item - 1)))}")
    return f.let(f"bitcast {m.integers} {f.let(f'or {m.integers} {_bits(f, value)}, {sign}')} to {m.vector}")


def _turned(f: Function, sine: str, cosine: str, n: str) -> tuple[str, str]:
    """Swap sine and cosine for n = 1, 3, change the sign of the sine for n = 2, 3, of the cosine for n = 1, 2."""
    m = f.module
    top = 8 * m.item - 1

    def up(value: str, places: int) -> str:
        return f.let(f"shl {m.integers} {value}, {_splat(m, places)}")

    if m.target.vector_bytes == 64:
        odd = f.let(f"icmp ne {m.integers} {f.let(f'and {m.integers} {n}, {_splat(m, 1)}')}, zeroinitializer")
    else:
        odd = f.let(f"icmp slt {m.integers} {up(n, top)}, zeroinitializer")

    def choose(where_odd: str, otherwise: str) -> str:
        return f.let(f"select <{m.lanes} x i1> {odd}, {m.vector} {where_odd}, {m.vector} {otherwise}")

    def signed(value: str, bits: str) -> str:
        sign = f.let(f"and {m.integers} {bits}, {_splat(m, -(1 << top))}")
        return f.let(f"bitcast {m.integers} {f.let(f'xor {m.integers} {_bits(f, value)}, {sign}')} to {m.vector}")

    after = f.let(f"add {m.integers} {n}, {_splat(m, 1)}")
    return signed(choose(cosine, sine), up(n, top - 1)), signed(choose(sine, cosine), up(after, top - 1))


def _emit_far(f: Function):
    """Write the body of @sincos: lanes beyond NEAR are reduced one by one, the others as usual."""
    m = f.module
    kinds = (m.vector, m.vector, m.integers)
    places = [f.let(f"alloca {kind}, align {m.row}") for kind in kinds]
    far = f.let(f"icmp ne {m.integers} {_far(f, [_shift(f, '%x')])}, zeroinitializer")
    # Replace lanes beyond NEAR by zero: infinity minus infinity would raise "invalid".
    calm = f.let(f"select <{m.lanes} x i1> {far}, {m.vector} zeroinitializer, {m.vector} %x")
    for place, kind, (value,) in zip(places, kinds, _reduce(f, [calm], [_shift(f, calm)]), strict=True):
        f.do(f"store {kind} {value}, ptr {place}, align {m.row}")
    magnitude = f.intrinsic("fabs", "%x")
    negative = f.let(f"icmp slt {m.integers} {_bits(f, '%x')}, zeroinitializer")
    for lane in range(m.lanes):
        this = f.let(f"extractelement <{m.lanes} x i1> {far}, i32 {lane}")
        f.when(this, f"far{lane}", f"next{lane}")
        x = f.let(f"extractelement {m.vector} {magnitude}, i32 {lane}")
        if m.item == 4:
            x = f.let(f"fpext float {x} to double")
        reduced = f.let(f"call {{double, i64}} @reduce_huge(double {x})")
        rest, quadrant = (f.let(f"extractvalue {{double, i64}} {reduced}, {k}") for k in range(2))
        turn = f.let(f"extractelement <{m.lanes} x i1> {negative}, i32 {lane}")  # |x| was reduced
        rest = f.let(f"select i1 {turn}, double {f.let(f'fneg double {rest}')}, double {rest}")
        quadrant = f.let(f"select i1 {turn}, i64 {f.let(f'sub i64 0, {quadrant}')}, i64 {quadrant}")
        if m.item == 4:
            rest = f.let(f"fptrunc double {rest} to float")
            quadrant = f.let(f"trunc i64 {quadrant} to i32")
        for place, kind, value in zip(places, (m.real, m.real, m.integer), (rest, rest, quadrant), strict=True):
            f.do(f"store {kind} {value}, ptr {f.at(place, lane * m.item)}, align {m.item}")
        f.start(f"next{lane}")
    r, exact, n = (f.let(f"load {kind}, ptr {place}, align {m.row}") for place, kind in zip(places, kinds, strict=True))
    answer = "poison"
    for k, value in enumerate(_finish(f, [r], [exact], [n])[0]):
        answer = f.let(f"insertvalue {{{m.vector}, {m.vector}}} {answer}, {m.vector} {value}, {k}")
    f.do(f"ret {{{m.vector}, {m.vector}}} {answer}")


# x = m 2**e with a 53-bit integer m. Bits of 2/pi that only add multiples of 4 to x 2/pi are skipped. The next 192 bits
# times m, modulo 2**192, are x 2/pi modulo 4 with 190 fractional bits, of which 75 remain after the worst cancellation.
# The arithmetic is in integers, with one rounding at the end, so it gives the same bits on every processor.
HUGE = f"""
!1 = !{{!"branch_weights", i32 1, i32 1000000}}
@two_over_pi = internal constant [{len(TWO_OVER_PI)} x i64] [{", ".join(f"i64 {word}" for word in TWO_OVER_PI)}]
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i128 @llvm.ctlz.i128(i128, i1)
declare i128 @llvm.abs.i128(i128, i1)

define internal {{double, i64}} @reduce_huge(double %x) noinline nounwind cold {{
  %bits = bitcast double %x to i64
  %exponent = lshr i64 %bits, 52
  %finite = icmp ult i64 %exponent, 2047
  br i1 %finite, label %reduce, label %nan
nan:
  ret {{double, i64}} {{double 0x7FF8000000000000, i64 0}}
reduce:
  %fraction = and i64 %bits, {2**52 - 1}
  %m = or i64 %fraction, {2**52}
  %first = sub i64 %exponent, {1075 - 62}
  %word = lshr i64 %first, 6
  %shift = and i64 %first, 63
  %p0 = getelementptr i64, ptr @two_over_pi, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr %p1
  %w2 = load i64, ptr %p2
  %w3 = load i64, ptr %p3
  %high = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %shift)
  %middle = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %shift)
  %low = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %shift)
  %m128 = zext i64 %m to i128
  %high128 = zext i64 %high to i128
  %middle128 = zext i64 %middle to i128
  %low128 = zext i64 %low to i128
  %low_product = mul i128 %m128, %low128
  %carry = lshr i128 %low_product, 64
  %middle_product = mul i128 %m128, %middle128
  %high_product = mul i128 %m128, %high128
  %high_part = shl i128 %high_product, 64
  %sum = add i128 %middle_product, %carry
  %total = add i128 %sum, %high_part
  %rounded = add i128 %total, {2**125}
  %quadrant128 = lshr i128 %rounded, 126
  %quadrant = trunc i128 %quadrant128 to i64
  %last = trunc i128 %low_product to i64
  %last_bits = lshr i64 %last, 62
  %last128 = zext i64 %last_bits to i128
  %turns4 = shl i128 %total, 2
  %turn = or i128 %turns4, %last128
  %magnitude = call i128 @llvm.abs.i128(i128 %turn, i1 false)
  %zeros = call i128 @llvm.ctlz.i128(i128 %magnitude, i1 false)
  %normal = shl i128 %magnitude, %zeros
  %leading = lshr i128 %normal, 64
  %angle = mul i128 %leading, {HALF_PI_63}
  %angle63 = lshr i128 %angle, 65
  %digits = trunc i128 %angle63 to i64
  %unscaled = sitofp i64 %digits to double
  %zeros64 = trunc i128 %zeros to i64
  %scale_exponent = sub i64 {1023 - 62}, %zeros64
  %scale_bits = shl i64 %scale_exponent, 52
  %scale = bitcast i64 %scale_bits to double
  %size = fmul double %unscaled, %scale
  %sign128 = lshr i128 %turn, 127
  %sign64 = trunc i128 %sign128 to i64
  %sign = shl i64 %sign64, 63
  %size_bits = bitcast double %size to i64
  %r_bits = or i64 %size_bits, %sign
  %r = bitcast i64 %r_bits to double
  %with_r = insertvalue {{double, i64}} poison, double %r, 0
  %both = insertvalue {{double, i64}} %with_r, i64 %quadrant, 1
  ret {{double, i64}} %both
}}
"""
