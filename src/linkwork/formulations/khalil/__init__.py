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

METHODS: tuple[Method, ...] = (
    Method(
        "khalil",
        "inverse_dynamics",
        khalil,
        "khalil2010",
        "Newton-Euler in three-vectors, as printed, O(n)",
        fixed_base=True, kinds=ONE_AXIS,
    ),
    Method(
        "khalil-kleinfinger",
        "inverse_dynamics",
        khalil_kleinfinger,
        "khalilkleinfinger1987",
        "Newton-Euler with base parameters and the matrix U, O(n)",
        fixed_base=True,
        kinds=ONE_AXIS,
    ),
    Method(
        "khalil-kleinfinger",
        "bias",
        partial(bias_by, khalil_kleinfinger),
        "khalilkleinfinger1987",
        "the same at zero acceleration, O(n)",
        fixed_base=True,
        kinds=ONE_AXIS,
    ),
    Method(
        "khalil",
        "forward_dynamics",
        khalil_direct,
        "khalil2010",
        "recursive direct model, O(n)",
        fixed_base=True, kinds=ONE_AXIS,
        mimic=False,
        loops=False,
        coupled=False,
        rigid=True,
    ),
    Method(
        "khalil-moving",
        "forward_dynamics",
        khalil_moving_direct,
        "khalil2010",
        "recursive direct model of a moving base, O(n)",
        mimic=False,
        loops=False,
        candidate=True,
        linear=True,
        fits=only_moving,
        coupled=False,
        kinds=ONE_AXIS,
        rigid=True,
    ),
    Method(
        "khalil-parallel",
        "inverse_dynamics",
        khalil_parallel,
        "khalil2010",
        "platform and legs, each by itself, O(n)",
        closed=True,
        candidate=True,
        fits=parallel.fits,
        coupled=False,
        rigid=True,
    ),
    Method(
        "khalil-parallel",
        "forward_dynamics",
        khalil_parallel_direct,
        "khalil2010",
        "platform and legs in the platform's coordinates, O(n)",
        closed=True,
        candidate=True,
        fits=parallel.fits,
        coupled=False,
        rigid=True,
    ),
    Method(
        "khalil",
        "hybrid_dynamics",
        khalil_hybrid,
        "khalil2010",
        "one recursion for any known and unknown accelerations of a tree, O(n)",
        mimic=False,
        loops=False,
        candidate=True,
        linear=True,
        coupled=False,
    ),
    Method(
        "khalil-elastic",
        "hybrid_dynamics",
        khalil_elastic,
        "khalilgautier2000",
        "recursive inverse model with elastic joints, O(n)",
        fixed_base=True, kinds=ONE_AXIS,
        mimic=False,
        loops=False,
        coupled=False,
        rigid=True,
    ),
    Method(
        "khalil-moving",
        "hybrid_dynamics",
        khalil_moving_inverse,
        "khalil2010",
        "recursive inverse model of a moving base, O(n)",
        mimic=False,
        loops=False,
        candidate=True,
        linear=True,
        fits=only_moving_with_motors,
        coupled=False,
        kinds=ONE_AXIS,
        rigid=True,
    ),
    Method(
        "khalil-blocks",
        "hybrid_dynamics",
        khalil_blocks,
        "khalil2010",
        "columns of the inertia matrix by Newton-Euler, solved by blocks, O(n^3)",
        kinds=(*ONE_AXIS, "floating"),
        fits=only_on_the_ground,
        mimic=False,
        loops=False,
        coupled=False,
        rigid=True,
    ),
    Method(
        "blocks",
        "hybrid_dynamics",
        khalil_loops,
        "khalil2010",
        "A_c and H_c of tree and loops, solved by blocks, O(n^3)",
        closed=True,
        candidate=True,
    ),
)
