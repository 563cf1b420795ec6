"""How fast recall is: ``python -m tests.instruments.bench``."""
