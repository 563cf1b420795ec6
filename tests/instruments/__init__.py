"""Instruments: evaluation, benchmark, chaos, scenes, demo and ``./dev``."""
