"""Khalil's recursive Newton-Euler (2010) and Khalil & Kleinfinger's organisation of it (1987)."""

from functools import partial

from ..forward import bias_by
from ..method import ONE_AXIS, Method
from . import parallel
from .blocks import khalil_blocks, only_on_the_ground
from .direct import khalil_direct
from .elastic import khalil_elastic
from .hybrid import khalil_hybrid
from .inverse import khalil
from .kleinfinger import khalil_kleinfinger
from .loops import khalil_loops
from .moving_direct import khalil_moving_direct
from .moving_inverse import khalil_moving_inverse, only_moving, only_moving_with_motors
from .parallel import khalil_parallel, khalil_parallel_direct

__all__ = ["METHODS", "khalil", "khalil_direct", "khalil_kleinfinger"]

_one_axis = partial(Method, fixed_base=True, kinds=ONE_AXIS)  # revolute and prismatic joints on a fixed base
_tree = partial(Method, reference="khalil2010", mimic=False, loops=False, coupled=False)
_moving = partial(_tree, name="khalil-moving", kinds=ONE_AXIS, candidate=True, linear=True, rigid=True)
_parallel = partial(
    Method, "khalil-parallel", reference="khalil2010", closed=True, candidate=True, fits=parallel.fits, coupled=False,
    rigid=True,
)

METHODS: tuple[Method, ...] = (
    _one_axis(
        "khalil", "inverse_dynamics", khalil, "khalil2010", "Newton-Euler in three-vectors, as printed, O(n)",
    ),
    _one_axis(
        "khalil-kleinfinger", "inverse_dynamics", khalil_kleinfinger, "khalilkleinfinger1987",
        "Newton-Euler with base parameters and the matrix U, O(n)",
    ),
    _one_axis(
        "khalil-kleinfinger", "bias", partial(bias_by, khalil_kleinfinger), "khalilkleinfinger1987",
        "the same at zero acceleration, O(n)",
    ),
    _tree(
        "khalil", "forward_dynamics", khalil_direct, summary="recursive direct model, O(n)",
        fixed_base=True, kinds=ONE_AXIS, rigid=True,
    ),
    _moving(
        quantity="forward_dynamics", function=khalil_moving_direct, fits=only_moving,
        summary="recursive direct model of a moving base, O(n)",
    ),
    _parallel("inverse_dynamics", khalil_parallel, summary="platform and legs, each by itself, O(n)"),
    _parallel(
        "forward_dynamics", khalil_parallel_direct, summary="platform and legs in the platform's coordinates, O(n)"
    ),
    _tree(
        "khalil", "hybrid_dynamics", khalil_hybrid, candidate=True, linear=True,
        summary="one recursion for any known and unknown accelerations of a tree, O(n)",
    ),
    _tree(
        "khalil-elastic", "hybrid_dynamics", khalil_elastic, reference="khalilgautier2000",
        summary="recursive inverse model with elastic joints, O(n)", fixed_base=True, kinds=ONE_AXIS, rigid=True,
    ),
    _moving(
        quantity="hybrid_dynamics", function=khalil_moving_inverse, fits=only_moving_with_motors,
        summary="recursive inverse model of a moving base, O(n)",
    ),
    _tree(
        "khalil-blocks", "hybrid_dynamics", khalil_blocks,
        summary="columns of the inertia matrix by Newton-Euler, solved by blocks, O(n^3)",
        kinds=(*ONE_AXIS, "floating"), fits=only_on_the_ground, rigid=True,
    ),
    Method(
        "blocks", "hybrid_dynamics", khalil_loops, "khalil2010",
        "A_c and H_c of tree and loops, solved by blocks, O(n^3)", closed=True, candidate=True,
    ),
)
