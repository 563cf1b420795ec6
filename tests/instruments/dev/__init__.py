"""The program behind ``./dev``: environments, checks, packaging. Standard library only."""
