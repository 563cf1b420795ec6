"""The programs behind ``./dev chaos``: kills and damage."""
