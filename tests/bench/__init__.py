"""How fast recall is: ``python -m tests.bench``."""
