"""Lin's minimal linear combinations of inertia parameters, by name."""

from __future__ import annotations

from ..formulations.linfang import Minimal, minimal_combinations
from ..model import Model
from ..scalar import Scalar
from ..spatial import Symmetric, Vector


def lin_parameters(model: Model) -> dict[str, Scalar]:
    """The set of Theorem 1 of Lin & Fang (1999), over any scalar: m^_i, k_i.x, U_i.33, kappa1_i, ...

    U_i.11-22 is the difference of the two.
    """
    minimal = minimal_combinations(model)
    entries = ("11-22", "12", "13", "22", "23", "33")
    names = Minimal(
        minimal.classes,
        {i: f"m^_{i}" for i in minimal.m},
        {i: Vector(*(f"k_{i}.{axis}" for axis in "xyz")) for i in minimal.k},
        {i: Symmetric(*(f"U_{i}.{entry}" for entry in entries)) for i in minimal.U},
        {i: (f"kappa1_{i}", f"kappa2_{i}") for i in minimal.kappa},
    )
    return dict(sorted(zip(names.values(), minimal.values(), strict=True), key=_joint))


def _joint(item: tuple[str, Scalar]) -> int:
    return int(item[0].split("_")[1].split(".")[0])
