"""Recordings: read, filtered, put in a robot's order."""
