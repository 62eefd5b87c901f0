"""Impulses of an impact with friction: they push, lie within their friction cones, and oppose the remaining slip.

With impulses p of the contacts, normal ones N and tangential ones t, and velocities u after the impact, where w is the
velocity along the normal less the velocity of restitution:

  (1)  u = u_0 + W p                                  W: inverse inertia at the contacts, with loops closed
  (2)  N_i >= 0,   w_i >= 0,   N_i w_i = 0
  (3)  |t_i| <= mu_i N_i;   where u_i = 0 any such t_i, else t_i = -mu_i N_i u_i / |u_i|

This is Newton's law of restitution with Coulomb's law of impulses as in Moreau (1988), "Unilateral contact and dry
friction in finite freedom dynamics": of all impulses in its disc, each t_i dissipates the most. Without restitution no
energy is gained, since p.u <= 0. As equations, with P_i the projection on the disc, rho positive and (x)+ the larger of
x and 0, (2) and (3) are

  (4)  N_i = (N_i - rho w_i)+,   t_i = P_i(t_i - rho u_i)   with the radius mu_i (N_i - rho w_i)+

Alart and Curnier (1991), "A mixed formulation for frictional contact problems prone to Newton like solution methods".
Fixed-point iteration of (4) leads near a solution, and Newton steps converge to it. Where several p give the same
motion, as under a sole, both take the shortest changes.
"""

from __future__ import annotations

import numpy as np

TRIES, SWEEPS, STEPS = 60, 50, 25  # attempts; fixed-point iterations and Newton steps in each
EXACT = 1e-14  # tolerance relative to the largest impulse


def coulomb_impulses(u: np.ndarray, W: np.ndarray, mu: np.ndarray) -> np.ndarray | None:
    """Return p (contacts, 3) of (2) and (3), or None if the iteration fails; u is u_0 (contacts, 3), with w last."""
    k, u = len(mu), u.ravel()
    rho, p = 1 / max(float(np.linalg.norm(W, 2)), 1e-300), np.zeros(3 * k)
    for _ in range(TRIES):
        for _ in range(SWEEPS):
            p = _nearest(p - rho * (u + W @ p), mu)[0]
        x = p
        for _ in range(STEPS):
            y, jacobian = _nearest(x - rho * (u + W @ x), mu)
            error = x - y
            if np.abs(error).max() <= EXACT * max(np.abs(x).max(), rho * np.abs(u).max()):
                return x.reshape(k, 3)
            x = x - np.linalg.lstsq(np.eye(3 * k) - jacobian @ (np.eye(3 * k) - rho * W), error, rcond=None)[0]
            if not np.isfinite(x).all():
                break
    return None


def _nearest(y: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Right sides of (4), and their Jacobian."""
    values, jacobian = np.zeros_like(y), np.zeros((len(y), len(y)))
    for i, friction in enumerate(mu):
        t, n = slice(3 * i, 3 * i + 2), 3 * i + 2
        if y[n] <= 0:
            continue
        values[n], jacobian[n, n], size = y[n], 1.0, float(np.hypot(*y[t]))
        if size <= friction * y[n]:
            values[t], jacobian[t, t] = y[t], np.eye(2)
        else:
            direction = y[t] / size
            values[t] = friction * y[n] * direction
            jacobian[t, t] = (np.eye(2) - np.outer(direction, direction)) * friction * y[n] / size
            jacobian[t, n] = friction * direction
    return values, jacobian
