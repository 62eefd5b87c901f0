"""From measurements to a physical model: recordings, motions that excite, fits."""
