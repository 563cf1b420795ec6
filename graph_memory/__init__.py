"""GraphMemory: a long-term memory for chat bots.

The package has no dependency on AstrBot. Start reading at ``service.py``
(``MemoryService`` is the only door for the plugin and the web UI), then
``model.py`` for the things it talks about. ``docs/architecture.md`` has the map.
"""
