"""Impulses of an impact with friction: they push, are within their cones, and are against the slip that they leave.

With impulses p of the contacts, normal ones N and tangential ones t, and velocities u after the impact, of which w is
along the normal, less what the contacts bounce back with:

  (1)  u = u_0 + W p                                  W: what an impulse does to the velocities, loops taken in
  (2)  N_i >= 0,   w_i >= 0,   N_i w_i = 0
  (3)  |t_i| <= mu_i N_i;   where u_i = 0 any such t_i, else t_i = -mu_i N_i u_i / |u_i|

This is Newton's law of restitution with Coulomb's law of impulses as Moreau (1988) has them, "Unilateral contact and
dry friction in finite freedom dynamics": of all impulses in its disc each t_i takes the most from the slip after the
impact. Without a bounce no energy is made, since p.u <= 0. As equations, with P_i the nearest point of the disc, rho
positive and (x)+ the larger of x and 0, (2) and (3) are

  (4)  N_i = (N_i - rho w_i)+,   t_i = P_i(t_i - rho u_i)   with the radius mu_i (N_i - rho w_i)+

Alart and Curnier (1991), "A mixed formulation for frictional contact problems prone to Newton like solution methods".
Repeating (4) leads near a solution, and Newton's steps do the rest. Where several p give the same motion, as under a
sole, both take the shortest changes.
"""

from __future__ import annotations

import numpy as np

TRIES, SWEEPS, STEPS = 60, 50, 25  # how often Newton's steps are tried, after so many repetitions; steps at a time
EXACT = 1e-14  # of the largest impulse


def coulomb_impulses(u: np.ndarray, W: np.ndarray, mu: np.ndarray) -> np.ndarray | None:
    """p (contacts, 3) of (2) and (3), if found; ``u``: u_0 (contacts, 3), with w as the velocity along the normal."""
    k, u = len(mu), u.ravel()
    rho, p = 1 / max(float(np.linalg.norm(W, 2)), 1e-300), np.zeros(3 * k)
    for _ in range(TRIES):
        for _ in range(SWEEPS):
            p = _nearest(p - rho * (u + W @ p), mu)[0]
        x = p
        for _ in range(STEPS):
            y, slopes = _nearest(x - rho * (u + W @ x), mu)
            off = x - y
            if np.abs(off).max() <= EXACT * max(np.abs(x).max(), rho * np.abs(u).max()):
                return x.reshape(k, 3)
            x = x - np.linalg.lstsq(np.eye(3 * k) - slopes @ (np.eye(3 * k) - rho * W), off, rcond=None)[0]
            if not np.isfinite(x).all():
                break
    return None


def _nearest(y: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The right sides of (4), and their slopes by y."""
    found, slopes = np.zeros_like(y), np.zeros((len(y), len(y)))
    for i, friction in enumerate(mu):
        t, n = slice(3 * i, 3 * i + 2), 3 * i + 2
        if y[n] <= 0:
            continue
        found[n], slopes[n, n], size = y[n], 1.0, float(np.hypot(*y[t]))
        if size <= friction * y[n]:
            found[t], slopes[t, t] = y[t], np.eye(2)
        else:
            along = y[t] / size
            found[t] = friction * y[n] * along
            slopes[t, t] = (np.eye(2) - np.outer(along, along)) * friction * y[n] / size
            slopes[t, n] = friction * along
    return found, slopes
