"""The published algorithms, one file each, over any scalar. Quantities combine them, and the catalogue lists them."""

from .catalog import METHODS, by_inertia_and_bias, find_method, methods, references
from .count_executed import executed_operations
from .derivatives.dynamics import changes_of, forces_against, seeded
from .drives import drives_of, friction_laws, with_rotor_forces
from .energy import kinetic_energy, momentum
from .kinematics import body_velocities, frame_poses
from .layout import layouts, sizes
from .method import Method
from .multipliers import ByMultipliers
from .passive_forces import body_wrenches, passive_forces, with_implicit_friction
from .problem import Problem, check_parameters
from .quantities import joint_forces, position_map
from .quantity import VARIABLES, Quantity, Variable
from .quantity_table import QUANTITIES, quantity_of
from .total_inertia import total_inertia_matrix, total_inverse_dynamics

__all__ = [
    "METHODS",
    "QUANTITIES",
    "VARIABLES",
    "ByMultipliers",
    "Method",
    "Problem",
    "Quantity",
    "Variable",
    "body_velocities",
    "body_wrenches",
    "by_inertia_and_bias",
    "changes_of",
    "check_parameters",
    "drives_of",
    "executed_operations",
    "find_method",
    "forces_against",
    "frame_poses",
    "friction_laws",
    "joint_forces",
    "kinetic_energy",
    "layouts",
    "methods",
    "momentum",
    "passive_forces",
    "position_map",
    "quantity_of",
    "references",
    "seeded",
    "sizes",
    "total_inertia_matrix",
    "total_inverse_dynamics",
    "with_implicit_friction",
    "with_rotor_forces",
]
