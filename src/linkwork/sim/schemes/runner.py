"""The compiled time loop of a setup, and the arrays that it works on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...codegen.schemes import Rosenbrock
from ...codegen.timeloop import Turns
from ...errors import DivergedError, UnsupportedError, method_at_door
from ...function import PROCESSORS
from ...notes import Note
from ...options import MOST
from ...targets import backend
from ..plant.sampled import check_periods
from ..plant.setup import Setup
from ..trajectory.diagnostics import SINGULAR
from .integrators import schemes

GROUP = 4096  # samples that run together; stopped runs keep whole groups
SHARED = 10**7  # instructions of all samples from which on threads save time: about a millisecond
BLOCK = 8  # samples that take the time of one: the largest number of SIMD lanes


class Runner:
    """The compiled time loop of a setup, and the arrays that it works on."""

    def __init__(self, setup: Setup, method: str, dt: float, compiler: str, dtype: str = "float64"):
        plant = setup.plant
        self.setup, self.method, self.dt, self.backend = setup, method, dt, compiler
        self.scheme = schemes()[method]
        if plant.has_contacts and (self.scheme.history or isinstance(self.scheme, Rosenbrock)):
            message = f"{method} cannot simulate contacts that are switched between steps"
            raise UnsupportedError(message, where="contacts", fix=method_at_door("rk4"))
        check_periods(plant.sampled, dt)
        if plant.sampled and self.scheme.history:
            message = f"{method} smooths the jumps of functions with a sample time over several steps"
            raise UnsupportedError(message, where="method", fix=method_at_door("rk4"))
        self.dtype = np.dtype(dtype)
        self.countable = 2**24 if dtype == "float32" else MOST  # steps that the state can count, or more than can run
        if plant.has_contacts and dtype != "float64":
            message = "which equations of the contacts follow from others is decided by more digits than this type has"
            raise UnsupportedError(message, where="contacts", got=dtype, expected="float64")
        self.loop = plant.time_loop(self.scheme, setup.outputs, dtype)
        self.shapes = {port.name: port.shape for port in self.loop.record.outputs}
        self.compiled = backend(compiler).compile_loop(self.loop, setup.samples)
        self.held = [setup.inputs.held[name].astype(self.dtype, copy=False) for name in plant.held]
        parts = [setup.inputs.constants[name] for name in plant.constants]
        each = max((len(part) for part in parts), default=1)
        wide = [np.broadcast_to(part, (each, part.shape[1])) for part in parts]
        constants = np.concatenate(wide, axis=1) if wide else np.zeros((1, 0))
        self.constants = np.ascontiguousarray(constants, self.dtype)

    def start(self, group: slice) -> np.ndarray:
        """Return the rows of the loop's state at the start, of a group of samples."""
        state = np.zeros((group.stop - group.start, self.loop.state), self.dtype)
        state[:, : self.setup.x0.shape[1]] = self.setup.x0[group]
        return state

    def threads(self, option: int | str, steps: int) -> int:
        """Return the number of threads for some steps of all samples: at most one per processor.

        For "auto" it is one unless there is enough work for several.
        """
        if option != "auto":
            return min(int(option), PROCESSORS)
        work = self.setup.samples * steps * self.loop.instructions
        return min(PROCESSORS, -(-self.setup.samples // BLOCK)) if work >= SHARED else 1

    def advance(
        self,
        state: np.ndarray,
        group: slice,
        turns: Turns,
        block: np.ndarray,
        pool: ThreadPoolExecutor | None = None,
        threads: int = 1,
    ) -> None:
        """Advance the samples of a group by some turns; records go to ``block``."""

        def work(here: slice) -> None:
            samples = slice(group.start + here.start, group.start + here.stop)
            self.bound(turns, samples, state[here], block[here])()

        list((map if pool is None else pool.map)(work, shares(len(state), threads)))

    def bound(self, turns: Turns, samples: slice, state: np.ndarray, block: np.ndarray) -> Callable[[], None]:
        """Return a function without arguments that makes these turns of some samples."""
        held, constants = [of_samples(x, samples) for x in self.held], of_samples(self.constants, samples)
        return self.compiled(turns, 0.0, self.dt, state, held, constants, block)

    def divergence(self, group: slice, state: np.ndarray, steps: int, warning: Note | None) -> DivergedError:
        """Return the error about the sample that diverged first, with its time and last finite state.

        Args:
            group: Samples that ran.
            state: Their rows of the loop's state.
            steps: Number of steps of the run.
            warning: Warning that was given at the start.
        """
        finite_steps = state[:, -1].astype(int)
        k = int(finite_steps.argmin())
        step, sample = int(finite_steps[k]), group.start + k
        alone = slice(sample, sample + 1)
        before = self.start(alone)  # run again up to the last finite state
        unused = np.empty((1, 1, len(self.loop.record.results)), self.dtype)
        self.advance(before, alone, Turns(0, step, step + 1, end=False, last_held=steps - 1), unused)
        model = self.setup.plant.model
        q, v = self.setup.plant.positions_and_velocities(before[0, : self.loop.x])
        at = (step + 1) * self.dt
        fix = warning.message if warning else "use a smaller dt, smaller gains, or another method"
        if model.constrained and not self.setup.plant.distance_from_singular(self.setup.model_of(sample), q) > SINGULAR:
            fix = "the loops are at or near a singular position there; choose a motion that avoids it"
        return DivergedError(
            f"the motion is not finite after step {step + 1}, t = {at:g} s",
            where=f"robot {model.name!r}" + (f", sample {sample}" if self.setup.batched else ""),
            got=f"before this step q = {_short(q)}, v = {_short(v)}",
            fix=f"{fix}; rollout(diverged='keep') keeps diverged samples",
            sample=sample if self.setup.batched else None,
            step=step + 1,
            time=at,
            q=q.copy(),
            v=v.copy(),
        )


def shares(samples: int, threads: int) -> list[slice]:
    """Return the samples of each thread: whole blocks."""
    share = -(-samples // threads // BLOCK) * BLOCK
    return [slice(first, min(first + share, samples)) for first in range(0, samples, share)]


def of_samples(array: np.ndarray, samples: slice) -> np.ndarray:
    """Return the rows of some samples, or the row that all samples share."""
    return array[samples] if len(array) > 1 else array


def _short(values: np.ndarray) -> str:
    return np.array2string(values, precision=6, threshold=16)
