"""Silver's Lagrangian with angular velocities (1981), and the augmented links of Balafoutis et al. (1988)."""

from ..method import ONE_AXIS, Method
from .balafoutis import augmented_links, balafoutis
from .silver import silver, silver_potential, silver_sums

METHODS = (
    Method(
        "silver", "inverse_dynamics", silver, "silver1981", "Lagrangian with angular velocities, O(n)",
        serial=True, kinds=ONE_AXIS,
    ),
    Method(
        "balafoutis", "inverse_dynamics", balafoutis, "balafoutis1988",
        "Newton-Euler with invariants of augmented links, O(n)", serial=True, kinds=ONE_AXIS,
    ),
)

__all__ = ["METHODS", "augmented_links", "balafoutis", "silver", "silver_potential", "silver_sums"]
