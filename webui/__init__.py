"""Web UI: a small FastAPI application that talks to ``MemoryService`` only.

``app.py`` puts it together, ``guard.py`` decides who gets in and what headers go out,
``server.py`` runs it inside the plugin's event loop, from when it is first asked.
"""

from .dashboard import DashboardDoor as DashboardDoor
from .server import LateApp as LateApp
from .server import WebServer as WebServer
