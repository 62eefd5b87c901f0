"""Kinematics: poses in, joints out; and how fast a path can be followed."""
