"""``./dev up``: a real AstrBot with the plugin in it, to try out and to look at."""
