"""Sine and cosine of a vector, both from one reduction of the argument.

``|x|`` is reduced to ``r = |x| - n pi/2`` in ``[-pi/4, pi/4]`` by subtracting pi/2 in three parts (Cody and Waite),
then two polynomials give sine and cosine of ``r``, and the last two bits of ``n`` say which is which and the signs.
Lanes beyond ``LIMIT`` are reduced one by one with 192 bits of 2/pi (Payne and Hanek); infinity and NaN give NaN.
A lane's result depends on that lane alone. The error stays below 2 units in the last place everywhere.

Comparisons are made on integers: ordered comparisons of NaN would raise the processor's "invalid" flag, which NumPy
reports as a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import pi

from .emit import Function, Module, double_literal

LIMIT = 1e5  # n stays below 2**16, so that n times the leading part of pi/2 is exact

# pi/2 in three parts: for fused arithmetic each part is as long as the type allows.
FUSED_PARTS = {
    "double": ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110"),
    "float": ("0x1.921fb6p+0", "-0x1.777a5cp-25", "-0x1.ee59dap-50"),
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
HALF_PI_63 = 14488038916154245685  # pi/2 times 2**63, a signed i64 to LLVM only in its spelling


def declare_sincos(module: Module, copies: int):
    """Add ``@sincos{copies}(vector) -> {sine, cosine}`` to ``module``, for vectors of ``copies`` registers."""
    m = replace(module, copies=copies)  # shares the functions and the table
    name, pair = f"sincos{copies}", f"{{{m.vector}, {m.vector}}}"
    with Function(m, f"define internal {pair} @{name}({m.vector} %x) noinline nounwind") as f:
        magnitude, beyond = _magnitude(f)
        bits = f.let(f"bitcast <{m.lanes} x i1> {beyond} to i{m.lanes}")
        some = f.let(f"icmp ne i{m.lanes} {bits}, 0")
        f.do(f"br i1 {some}, label %slow, label %fast, !prof !1")
        f.label("slow")
        answer = f.let(f"call {pair} @{name}_slow({m.vector} %x)")
        f.do(f"ret {pair} {answer}")
        f.label("fast")
        _finish(f, *_reduce(f, magnitude))
    with Function(m, f"define internal {pair} @{name}_slow({m.vector} %x) noinline nounwind cold") as f:
        _slow(f)


def _splat(m: Module, number: int) -> str:
    return f"<{', '.join([f'{m.integer} {number}'] * m.lanes)}>"


def _magnitude(f: Function) -> tuple[str, str]:
    """|x|, and which lanes are beyond LIMIT, infinite or NaN."""
    m = f.module
    magnitude = f.intrinsic("fabs", "%x")
    bits = f.let(f"bitcast {m.vector} {magnitude} to {m.integers}")
    limit = f.let(f"bitcast {m.vector} {f.constant(LIMIT)} to {m.integers}")
    return magnitude, f.let(f"icmp sgt {m.integers} {bits}, {limit}")


def _reduce(f: Function, x: str) -> tuple[str, str, str]:
    """r, r to more digits, and an integer whose last two bits are those of n, for 0 <= x <= LIMIT.

    Parts of full length leave the third to count only where r is tiny, and there only for the sine: the first r, ready
    sooner, does for the polynomials.
    """
    m = f.module
    if m.item == 4 and not m.target.fused:
        return _reduce_in_double(f, x)
    magic = f.constant(1.5 * 2.0 ** (52 if m.item == 8 else 23))  # adding it rounds to an integer, in the last bits
    shifted = f.fma(x, f.constant(2 / pi), magic)
    n = f.binary("fsub", shifted, magic)
    rests = [x]
    for part in FUSED_PARTS[m.real] if m.target.fused else SPLIT_PARTS:
        rests.append(f.fnma(n, f.constant(float.fromhex(part)), rests[-1]))
    return rests[2 if m.target.fused else 3], rests[3], f.let(f"bitcast {m.vector} {shifted} to {m.integers}")


def _reduce_in_double(f: Function, x: str) -> tuple[str, str, str]:
    """The same for float32 without fused arithmetic: a float32 has too few bits for exact products with n."""
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
    return r, r, f.let(f"trunc <{m.lanes} x i64> {bits} to {m.integers}")


def _finish(f: Function, r: str, exact_r: str, n: str):
    """Return sine and cosine of x from r and n."""
    m = f.module
    square = f.binary("fmul", r, r)
    fourth = f.binary("fmul", square, square)

    def polynomial(coefficients: Sequence[float]) -> str:
        """In pairs of coefficients: a shorter chain of dependent operations than one by one."""
        rows = [f.constant(c) for c in coefficients]
        pairs = [f.fma(rows[k + 1], square, rows[k]) if k + 1 < len(rows) else rows[k] for k in range(0, len(rows), 2)]
        value = pairs[-1]
        for pair in pairs[-2::-1]:
            value = f.fma(value, fourth, pair)
        return value

    sine = f.fma(f.binary("fmul", r, square), polynomial(SINE[m.real]), exact_r)
    cosine = f.fma(fourth, polynomial(COSINE[m.real]), f.fnma(square, f.constant(0.5), f.constant(1.0)))

    def shift_up(value, places):
        return f.let(f"shl {m.integers} {value}, {_splat(m, places)}")

    top = 8 * m.item - 1
    odd = f.let(f"icmp slt {m.integers} {shift_up(n, top)}, zeroinitializer")
    swapped = [f.let(f"select <{m.lanes} x i1> {odd}, {m.vector} {a}, {m.vector} {b}")
               for a, b in ((cosine, sine), (sine, cosine))]  # fmt: skip
    # n = 2, 3 turn the sign of the sine, n = 1, 2 that of the cosine; the sine also takes the sign of x.
    x = f.let(f"bitcast {m.vector} %x to {m.integers}")
    second = shift_up(n, top - 1)
    signs = (
        f.let(f"xor {m.integers} {second}, {x}"),
        f.let(f"xor {m.integers} {second}, {shift_up(n, top)}"),
    )
    answer = "poison"
    for k in range(2):
        sign = f.let(f"and {m.integers} {signs[k]}, {_splat(m, -(1 << top))}")
        bits = f.let(f"bitcast {m.vector} {swapped[k]} to {m.integers}")
        turned = f.let(f"bitcast {m.integers} {f.let(f'xor {m.integers} {bits}, {sign}')} to {m.vector}")
        answer = f.let(f"insertvalue {{{m.vector}, {m.vector}}} {answer}, {m.vector} {turned}, {k}")
    f.do(f"ret {{{m.vector}, {m.vector}}} {answer}")


def _slow(f: Function):
    """Body of @sincos_slow: the lanes beyond LIMIT are reduced one by one, the others as ever."""
    m = f.module
    kinds = (m.vector, m.vector, m.integers)
    places = [f.let(f"alloca {kind}, align {m.row}") for kind in kinds]
    magnitude, beyond = _magnitude(f)
    # Zero in the lanes beyond: infinity minus infinity would raise "invalid".
    calm = f.let(f"select <{m.lanes} x i1> {beyond}, {m.vector} zeroinitializer, {m.vector} {magnitude}")
    for place, kind, value in zip(places, kinds, _reduce(f, calm), strict=True):
        f.do(f"store {kind} {value}, ptr {place}, align {m.row}")
    for lane in range(m.lanes):
        this = f.let(f"extractelement <{m.lanes} x i1> {beyond}, i32 {lane}")
        f.do(f"br i1 {this}, label %huge{lane}, label %next{lane}")
        f.label(f"huge{lane}")
        x = f.let(f"extractelement {m.vector} {magnitude}, i32 {lane}")
        if m.item == 4:
            x = f.let(f"fpext float {x} to double")
        reduced = f.let(f"call {{double, i64}} @reduce_huge(double {x})")
        rest, quadrant = (f.let(f"extractvalue {{double, i64}} {reduced}, {k}") for k in range(2))
        if m.item == 4:
            rest = f.let(f"fptrunc double {rest} to float")
            quadrant = f.let(f"trunc i64 {quadrant} to i32")
        for place, kind, value in zip(places, (m.real, m.real, m.integer), (rest, rest, quadrant), strict=True):
            f.do(f"store {kind} {value}, ptr {f.at(place, lane * m.item)}, align {m.item}")
        f.do(f"br label %next{lane}")
        f.label(f"next{lane}")
    _finish(f, *(f.let(f"load {kind}, ptr {place}, align {m.row}") for place, kind in zip(places, kinds, strict=True)))


# x = m 2**e with a 53 bit integer m. Bits of 2/pi that only add multiples of 4 to x 2/pi are skipped; the next 192
# times m, modulo 2**192, are x 2/pi modulo 4 with 190 fractional bits: 75 remain after the worst cancellation. All
# in integers, with one rounding at the end, so it needs no fused arithmetic and gives the same bits everywhere.
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
