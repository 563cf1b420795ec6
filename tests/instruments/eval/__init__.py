"""How well recall finds what was asked for: ``python -m tests.instruments.eval FILE``."""
