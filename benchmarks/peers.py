"""The peers: Pinocchio, CasADi and MuJoCo as contenders, and the check that all of them compute the same."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from robots import STATES, Case
from timing import Contender

from linkwork import Function

TOLERANCE = 1e-10  # relative, per joint
CHECKED = 256  # states compared for peers that take one state per call


def agree(who: str, expected: np.ndarray, got: np.ndarray, rows: bool = False) -> dict[str, float]:
    """The largest error of each result entry (joint) against its largest magnitude in the batch; stop if too large.
    ``rows``: of each row of matrices that have entries of zero.

    Only reported: the largest error within one state against that state's largest entry. It can be greater,
    because linkwork reads an angle written 1.57079632679 as exactly pi/2 (5e-12 from what the file says, and from what
    the peers compute with), which shows in states whose terms nearly cancel.
    """
    error = np.abs(got - expected)
    axes = tuple(range(1, expected.ndim))
    of_joint = (0, *axes[1:]) if rows else 0
    largest = np.maximum(np.max(np.abs(expected), of_joint), np.finfo(float).tiny)
    joint = float(np.max(np.max(error, of_joint) / largest))
    state = float(np.max(np.max(error, axes) / np.max(np.abs(expected), axes)))
    if not joint <= TOLERANCE:
        raise SystemExit(f"{who}: results differ by {joint:.1e} relative, more than {TOLERANCE:g}; nothing was timed")
    return {"joint": joint, "state": state}


# -- Pinocchio ---------------------------------------------------------------------------------------------------------


def pinocchio_batch(case: Case, quantity: str, threads: int = 1) -> tuple[Contender, np.ndarray]:
    """rneaInParallel or abaInParallel on column-major arrays, result array allocated beforehand; and the result."""
    function = {"inverse_dynamics": pin.rneaInParallel, "forward_dynamics": pin.abaInParallel}[quantity]
    pool = pin.ModelPool(case.pinocchio, threads)
    arrays = [case.for_pinocchio(array) for array in case.inputs(quantity)]
    out = np.zeros((case.pinocchio.nv, STATES), order="F")
    args = (threads, pool, *arrays, out)
    function(*args)
    result = np.empty((STATES, case.robot.nv))
    result[:, case.order] = out.T
    name = f"Pinocchio, {function.__name__}, {threads} thread{'s' if threads > 1 else ''}"
    return Contender(name, function, args, STATES, threads), result


def pinocchio_call(case: Case, quantity: str) -> Contender:
    """rnea, aba or crba for one state per call."""
    function = {"inverse_dynamics": pin.rnea, "forward_dynamics": pin.aba, "inertia_matrix": pin.crba}[quantity]
    arrays = [case.for_pinocchio(array)[:, 0].copy() for array in case.inputs(quantity)]
    return Contender(
        f"Pinocchio, one {function.__name__} call", function, (case.pinocchio, pin.Data(case.pinocchio), *arrays)
    )


def pinocchio_inertia_loop(case: Case) -> tuple[Contender, np.ndarray]:
    """A Python loop of crba calls; and the complete inertia matrices in linkwork's joint order."""
    model, data = case.pinocchio, pin.Data(case.pinocchio)
    rows = list(np.ascontiguousarray(case.for_pinocchio(case.q).T)[:CHECKED])

    def loop():
        for q in rows:
            pin.crba(model, data, q)

    result = np.empty((CHECKED, model.nv, model.nv))
    for k, q in enumerate(rows):
        upper = np.triu(pin.crba(model, data, q))
        result[k][np.ix_(case.order, case.order)] = upper + np.triu(upper, 1).T
    return Contender("Pinocchio, loop of crba calls", loop, (), CHECKED), result


# -- CasADi ------------------------------------------------------------------------------------------------------------


def casadi_contenders(case: Case, quantity: str, function: Function, expected: np.ndarray) -> list[Contender]:
    """CasADi from Python by its fastest way, ``buffer()``: one state per call, and ``map`` over the whole batch."""
    one = function.to_casadi()
    contenders = []
    for name, traced, states in (
        ("CasADi, buffer(), one state per call", one, 1),
        (f"CasADi, map({STATES})", one.map(STATES), STATES),
    ):
        arrays = [np.ascontiguousarray(array[:states]) for array in case.inputs(quantity)]  # a column is a state
        out = np.empty((states, *expected.shape[1:]))
        buffer, run = traced.buffer()
        for k, array in enumerate(arrays):
            buffer.set_arg(k, memoryview(array))
        buffer.set_res(0, memoryview(out))
        run()
        agree(f"{case.source.name}, {quantity}, {name}", expected[:states], out)
        contenders.append(Contender(name, Kept(run, buffer, arrays, out), (), states))
    return contenders


class Kept:
    """A call with what must live as long."""

    def __init__(self, call: Any, *kept: Any):
        self.call, self.kept = call, kept

    def __call__(self):
        self.call()


# -- MuJoCo ------------------------------------------------------------------------------------------------------------


def mujoco_model(case: Case) -> mujoco.MjModel:
    """The robot as linkwork writes it to URDF (meshes, friction and rotors left out, fixed links merged), without
    contacts, limits and other constraints."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{case.source.name}.urdf")
        case.robot.write(file)
        model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return model


def mujoco_places(case: Case, model: mujoco.MjModel) -> list[int]:
    """For each of linkwork's velocities the index of the same one in MuJoCo."""
    first = 6 if case.source.floating else 0
    return [*range(first), *(int(model.joint(name).dofadr[0]) for name in case.robot.joint_names)]


def mujoco_call(case: Case, quantity: str, expected: np.ndarray) -> Contender:
    """mj_inverse or mj_forward. The state is set before timing."""
    model = mujoco_model(case)
    data = mujoco.MjData(model)
    inverse = quantity == "inverse_dynamics"
    function = mujoco.mj_inverse if inverse else mujoco.mj_forward
    first = 6 if case.source.floating else 0
    places = mujoco_places(case, model)
    results = np.empty((CHECKED, case.robot.nv))
    for k, (q, v, x) in enumerate(zip(*(array[:CHECKED] for array in case.inputs(quantity)), strict=True)):
        frame = BaseFrame(q, v) if first else None
        data.qvel[places] = frame.velocity(v) if frame else v
        data.qpos[[place + (1 if first and place >= 6 else 0) for place in places[first:]]] = q[-len(places) + first :]
        if frame:
            data.qpos[:7] = frame.position
        if inverse:
            data.qacc[places] = frame.acceleration(x) if frame else x
        else:
            data.qfrc_applied[places] = frame.velocity(x) if frame else x  # forces turn like velocities
        function(model, data)
        result = (data.qfrc_inverse if inverse else data.qacc)[places]
        if frame:
            result = frame.force(result) if inverse else frame.acceleration_back(result)
        results[k] = result
    agree(f"{case.source.name}, {quantity}, MuJoCo", expected[:CHECKED], results)
    return Contender(f"MuJoCo, {function.__name__}, one state per call", function, (model, data))


class BaseFrame:
    """Floating base: linkwork and Pinocchio give its linear velocity in base axes, MuJoCo in world axes; the quaternion
    starts with the scalar in MuJoCo."""

    def __init__(self, q: np.ndarray, v: np.ndarray):
        x, y, z, w = q[3:7]
        self.position = [*q[:3], w, x, y, z]
        self.rotation = np.empty(9)
        mujoco.mju_quat2Mat(self.rotation, np.array([w, x, y, z]))
        self.rotation = self.rotation.reshape(3, 3)
        self.drift = np.cross(v[3:6], v[:3])  # w x v: world acceleration beyond the rate of the base-frame velocity

    def velocity(self, v: np.ndarray) -> np.ndarray:
        return np.concatenate([self.rotation @ v[:3], v[3:]])

    def acceleration(self, a: np.ndarray) -> np.ndarray:
        return np.concatenate([self.rotation @ (a[:3] + self.drift), a[3:]])

    def force(self, tau: np.ndarray) -> np.ndarray:
        return np.concatenate([self.rotation.T @ tau[:3], tau[3:]])

    def acceleration_back(self, a: np.ndarray) -> np.ndarray:
        return np.concatenate([self.rotation.T @ a[:3] - self.drift, a[3:]])
