"""Five formulations of the composite-body method compared in Lin and Fang (1999), two of them also from minimal linear
combinations of inertia parameters, and Lin's earlier method by partial velocities."""

from ..method import ONE_AXIS, Method
from .formulation1 import lin_fang_1, lin_fang_1_minimal
from .formulation2 import lin_fang_2, lin_fang_2_minimal
from .formulation3 import lin_fang_3
from .formulation4 import lin_fang_4
from .formulation5 import lin_fang_5
from .minimal import JointClasses, Minimal, joint_classes, minimal_combinations
from .partial_velocities import lin_1988

__all__ = ["METHODS", "JointClasses", "Minimal", "joint_classes", "minimal_combinations"]

# Methods that "auto" tries: they mostly have the fewest operations of the family, and compile fast.
CANDIDATES = ("lin-fang-1", "lin-fang-2", "lin-fang-1-minimal")

METHODS: tuple[Method, ...] = tuple(
    Method(
        name,
        "inertia_matrix",
        function,
        reference,
        summary,
        serial=True,
        kinds=ONE_AXIS,
        candidate=name in CANDIDATES,
        placed=not name.endswith("minimal"),
    )
    for name, function, reference, summary in (
        ("lin-fang-1", lin_fang_1, "linfang1999", "composite bodies, forces carried from frame to frame, O(n^2)"),
        ("lin-fang-2", lin_fang_2, "linfang1999", "composite bodies, axes and arms in the body's frame, O(n^2)"),
        ("lin-fang-3", lin_fang_3, "linfang1999", "composite bodies, axes and crossed arms (Renaud), O(n^2)"),
        ("lin-fang-4", lin_fang_4, "linfang1999", "composite bodies, forces in the last frame (Fijany-Bejczy), O(n^2)"),
        ("lin-fang-5", lin_fang_5, "kawasaki1996", "composite bodies, moments about the frame before, O(n^2)"),
        ("lin-fang-1-minimal", lin_fang_1_minimal, "linfang1999", "lin-fang-1 from minimal combinations, O(n^2)"),
        ("lin-fang-2-minimal", lin_fang_2_minimal, "linfang1999", "lin-fang-2 from minimal combinations, O(n^2)"),
        ("lin-1988", lin_1988, "lin1988", "partial velocities of the links, O(n^3)"),
    )
)
