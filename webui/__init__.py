"""Web UI: a small FastAPI application that talks to ``MemoryService`` only.

``app.py`` puts it together, ``guard.py`` decides who gets in and what headers go out,
``server.py`` runs it inside the plugin's event loop.
"""

from .app import create_app as create_app
from .server import WebServer as WebServer
