"""Exciting motions: those from which parameters are identified well."""
