"""Tests of the room that knows AstrBot."""
