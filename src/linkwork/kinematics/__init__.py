"""Kinematics: from the pose that you want to the joint positions that give it."""
