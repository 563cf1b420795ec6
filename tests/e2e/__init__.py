"""Scenes played through a real AstrBot with a scripted model and a simulated QQ account."""
