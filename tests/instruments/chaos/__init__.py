"""The programs behind ``./dev chaos`` and ``./dev soak``: kills, damage, a long day."""
