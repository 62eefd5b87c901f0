"""Robots with every friction law in their joints, and with transmissions."""

from dataclasses import replace

import numpy as np

from linkwork.model import Asymmetric, Description, Motor, Offset, Stribeck, Transmission

from .random_robots import Recipe, describe

LAWS = {
    "plain": (),
    "offset": (Offset(0.7),),
    "asymmetric": (Asymmetric(0.8, 0.3, 0.5, 1.1),),
    "stribeck": (Stribeck(0.6, 0.9),),
    "all": (Offset(-0.4), Asymmetric(0.2, 0.9, 0.7, 0.1), Stribeck(1.2, 0.5)),
}


def rubbing(recipe: Recipe, laws: tuple, **values: float) -> Description:
    """The robot of a recipe, with these laws in all joints."""
    description = describe(recipe)
    return replace(description, joints=tuple(replace(joint, friction=laws, **values) for joint in description.joints))


def coupled(description: Description, seed: int = 0) -> Description:
    """The same robot, its last three joints moved by three motors together, the two before by one."""
    rng = np.random.default_rng(seed)
    names = [joint.name for joint in description.joints if joint.kind != "fixed" and not joint.mimic]
    motors = [
        Motor(
            f"motor{k}",
            rotor_inertia=rng.uniform(0.1, 1),
            coulomb=rng.uniform(0.1, 1),
            viscous=rng.uniform(0.1, 1),
            friction=laws,
        )
        for k, laws in enumerate((*list(LAWS.values())[:3], LAWS["all"]))
    ]
    full = tuple(map(tuple, rng.normal(size=(3, 3)).tolist()))
    return replace(
        description,
        transmissions=(
            Transmission("wrist", tuple(names[-3:]), tuple(motors[:3]), full),
            Transmission("differential", tuple(names[-5:-3]), (motors[3],), ((1.5, -0.5),)),
        ),
    )


def with_tendons(description: Description, seed: int = 0) -> Description:
    """The same robot: the motors of its transmissions have springs, some with slack, and some of them nobody drives."""
    rng = np.random.default_rng(seed)

    def sprung(motor: Motor, k: int) -> Motor:
        slack, role = (rng.uniform(0.1, 0.5), "passive") if k % 2 else (0.0, "active")
        return replace(motor, stiffness=rng.uniform(5, 20), rest=rng.uniform(-0.5, 0.5), slack=slack, role=role)

    transmissions = (
        replace(each, motors=tuple(sprung(motor, k) for k, motor in enumerate(each.motors)))
        for each in description.transmissions
    )
    return replace(description, transmissions=tuple(transmissions))
