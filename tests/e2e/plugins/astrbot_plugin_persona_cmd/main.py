"""Session commands that AstrBot moved out of the core in 4.23.

They change conversations exactly the way the original commands do, so tests can
switch personas from chat without the external extension plugin.
"""

from astrbot.api.event import AstrMessageEvent, filter  # noqa: A004
from astrbot.api.star import Context, Star


class PersonaCommands(Star):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.conversations = context.conversation_manager

    @filter.permission_type(filter.PermissionType.ADMIN)
    @filter.command("persona")
    async def persona(self, event: AstrMessageEvent, name: str = ""):
        """/persona <id> binds a persona, /persona unset removes it."""
        umo = event.unified_msg_origin
        if not await self.conversations.get_curr_conversation_id(umo):
            yield event.plain_result("no conversation, use /new first")
            return
        known = [p["name"] for p in self.context.persona_manager.personas_v3]
        if name == "unset":
            name = "[%None]"
        elif name not in known:
            yield event.plain_result(f"unknown persona {name}, known: {known}")
            return
        await self.conversations.update_conversation(umo, persona_id=name)
        yield event.plain_result(f"persona set to {name}")
