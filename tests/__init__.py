"""Tests; the folders mirror the tree, ``dev`` and ``demo`` are programs behind ``./dev``."""
