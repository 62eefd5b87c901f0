"""The formulations of Lagrange's and the Newton-Euler equations that Hollerbach (1980) compares."""

from functools import partial

from ..method import ONE_AXIS, Method
from .configuration_space import configuration_space
from .hollerbach_3x3 import hollerbach_3x3
from .hollerbach_4x4 import hollerbach_4x4
from .newton_euler_base import newton_euler_base
from .newton_euler_link import newton_euler_link
from .uicker_kahn import uicker_kahn
from .waters import waters

_method = partial(Method, quantity="inverse_dynamics", serial=True, kinds=ONE_AXIS, wrenches=False)

METHODS: tuple[Method, ...] = (
    _method(
        name="uicker-kahn", function=uicker_kahn, reference="uicker1965",
        summary="Lagrange written out, 4x4 matrices, O(n^4)",
    ),
    _method(
        name="waters", function=waters, reference="waters1979",
        summary="Lagrange, velocities by recursion, 4x4 matrices, O(n^2)",
    ),
    _method(
        name="hollerbach-4x4", function=hollerbach_4x4, reference="hollerbach1980",
        summary="recursive Lagrange, 4x4 matrices, O(n)",
    ),
    _method(
        name="hollerbach-3x3", function=hollerbach_3x3, reference="hollerbach1980",
        summary="recursive Lagrange, 3x3 matrices, O(n)",
    ),
    _method(
        name="newton-euler-base", function=newton_euler_base, reference="hollerbach1980",
        summary="Luh's Newton-Euler in base coordinates, centres of mass, O(n)", grouped=False,
    ),
    _method(
        name="newton-euler-link", function=newton_euler_link, reference="luh1980",
        summary="Luh's Newton-Euler in link coordinates, centres of mass, O(n)", grouped=False,
    ),
    _method(
        name="configuration-space", function=configuration_space, reference="hornraibert1978",
        summary="coefficients G, J_ij, C_ijk of the position, then their sum, O(n^3)",
    ),
)
