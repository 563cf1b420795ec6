"""Inspection of the memory: lookup, view as somebody else, health."""
