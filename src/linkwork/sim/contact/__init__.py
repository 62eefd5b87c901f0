"""Contacts that come and go by themselves, and what contact forces mean."""
