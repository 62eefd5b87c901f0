"""Standard parameters that have given base parameters, as near to a prior as can be."""

from __future__ import annotations

import numpy as np

from ..regression.unknowns import Unknowns
from .entropic_prior import Prior


def nearest(unknowns: Unknowns, prior: Prior, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """theta with K theta = x, and its slope by x. Distance is what the entropic term has near the prior, which does not
    depend on frames and units; the drives' own parameters, in units of their sizes, take part alike."""
    _, J = prior.slopes(prior.start)
    K, H = unknowns.matrix, J.T @ J
    metric = np.diag(H)
    H = H + np.diag(np.where(metric > 0, 0.0, 1.0))
    scale = 1 / np.sqrt(np.diag(H))
    across = scale[:, None] * np.linalg.solve(H * scale * scale[:, None], scale[:, None] * K.T)
    square = K @ across
    scale = 1 / np.sqrt(np.maximum(np.diag(square), np.finfo(float).tiny))
    slope = across * scale @ np.linalg.pinv(square * scale * scale[:, None], rcond=1e-13) * scale
    theta = prior.start + slope @ (x - K @ prior.start)
    return theta + slope @ (x - K @ theta), slope
