"""Calls of models: interfaces, circuit breaker, token budget."""
