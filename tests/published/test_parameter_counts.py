"""Minimal parameters as the literature has them."""

import pytest

import linkwork
from linkwork.parameters import base_parameters

# W. Khalil, E. Dombre, Modeling, Identification and Control of Robots, 2002, chapter 9: the grouped parameters of the
# Staubli RX-90, there in the same frames (D3, RL4: d3, r4); all others are alone.
RX90 = {
    "ZZR1": "ZZ1 + IA1 + YY2 + YY3 + d3^2 (M3 + M4 + M5 + M6)",
    "MXR2": "MX2 + d3 (M3 + M4 + M5 + M6)",
    "XXR2": "XX2 - YY2 - d3^2 (M3 + M4 + M5 + M6)",
    "XZR2": "XZ2 - d3 MZ3",
    "ZZR2": "ZZ2 + IA2 + d3^2 (M3 + M4 + M5 + M6)",
    "MYR3": "MY3 + MZ4 + r4 (M4 + M5 + M6)",
    "XXR3": "XX3 - YY3 + YY4 + 2 r4 MZ4 + r4^2 (M4 + M5 + M6)",
    "ZZR3": "ZZ3 + YY4 + 2 r4 MZ4 + r4^2 (M4 + M5 + M6)",
    "MYR4": "MY4 - MZ5",
    "XXR4": "XX4 - YY4 + YY5",
    "ZZR4": "ZZ4 + YY5",
    "MYR5": "MY5 + MZ6",
    "XXR5": "XX5 - YY5 + YY6",
    "ZZR5": "ZZ5 + YY6",
    "XXR6": "XX6 - YY6",
}


@pytest.mark.parametrize(("name", "along", "across"), [("puma560", 36, 38), ("stanford", 33, 35)])
@pytest.mark.parametrize("kind", ["khalil", "lin"])
def test_arms(name: str, kind: str, along: int, across: int):
    """Gravity along the first axis, and not; no rotor inertia, no friction (Gautier & Khalil 1990; Lin & Fang 1999)."""
    for gravity, number in (((0, 0, -9.81), along), ((2, 1, -9.81), across)):
        model = linkwork.load(name, rotors=False, friction=False, gravity=gravity).model
        base = base_parameters(model, kind)
        assert len(base) == base.rank == number


def test_rx90():
    base = base_parameters(linkwork.load("rx90", friction=False).model)
    assert {name: formula for name, formula in base.formulas.items() if name != formula} == RX90
    assert len(base) == base.rank == 40


def test_planar_arm():
    """Every textbook's m1 c1^2 + I1 + m2 l1^2, m2 c2^2 + I2 and m2 c2 in a horizontal plane (MY2 is zero there); in a
    vertical one the first moment of the whole arm about the shoulder, too."""
    options = {"friction": False, "rotors": False}
    base = base_parameters(linkwork.load("planar2r", gravity=(0, 0, -9.81), **options).model)
    assert base.names == ("ZZR1", "MX2", "MY2", "ZZ2")
    assert base.formulas["ZZR1"] == "ZZ1 + d2^2 M2"
    upright = base_parameters(linkwork.load("planar2r", **options).model)
    assert set(upright.names) == {*base.names, "MXR1", "MY1"}
    assert upright.formulas["MXR1"] == "MX1 + d2 M2"
