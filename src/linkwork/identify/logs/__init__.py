"""Recordings: read from files, filtered, and put in a robot's order."""
