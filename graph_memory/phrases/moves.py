"""What the plugin says about memories that come and go."""

from __future__ import annotations

MOVES: dict[str, dict[str, str]] = {
    "zh": {
        "export_private": "🧠 请在私聊里导出。",
        "export_denied": (
            "🧠 只有管理员可以导出别人的记忆。要导出自己能看到的，请发送 /memory export"
        ),
        "export_wait": "🧠 刚刚导出过，请过一分钟再试。",
        "export_mine": "🧠 这是你在这里能看到的全部记忆。",
        "export_done": (
            "🧠 已导出 {messages} 条消息、{facts} 条事实（共 {lines} 行）：\n{path}\n"
            "有人要求被彻底删除时，数据目录里的导出文件也会删除，要留请移走。"
        ),
        "export_where": "🧠 这个平台发不了文件，已保存到：\n{path}",
        "export_unsent": "🧠 内容太长，这个平台又发不了文件，请联系管理员。",
        "import_private": "🧠 这个指令只给管理员用，而且要在私聊里。",
        "import_files": "🧠 可以导入的文件：",
        "import_none": "🧠 imports/ 里没有文件。把文件放进数据目录的 imports/，或者写绝对路径。",
        "import_file": "· {name}（{size} MB）",
        "import_last": "最近一次导入：{when}，{messages} 条消息、{rows} 条记录。",
        "import_how": (
            "/memory import <文件> 预览；/memory import astrbot 预览 AstrBot 自己的对话历史；"
            "/memory import 撤销。\n"
            "可加：learn 同时学习，as=格式，persona=人格，platform=平台，bot=机器人账号，"
            "to=群或私聊（如 to=group:123456）"
        ),
        "import_progress": "⏳ 正在导入：{done}/{total}",
        "import_plan": (
            "🧠 {format}：{messages} 条消息（新的 {new} 条）、{facts} 条事实、"
            "{summaries} 段对话，分属 {chats} 个会话。"
        ),
        "import_span": "时间：{since} 至 {until}",
        "import_chat": "· {chat}（{persona}）：{messages} 条",
        "import_example": "  {name}：{text}",
        "import_format_memory": "本插件的导出",
        "import_format_astrbot": "AstrBot 对话历史",
        "import_format_chat": "聊天记录",
        "import_format_livingmemory": "LivingMemory",
        "import_format_graphmemory": "GraphMemory 0.5",
        "import_format_qq": "QQChatExporter",
        "import_skipped_origin": "略过 {count} 条：不知道出自哪个聊天（可用 to= 指定）",
        "import_skipped_empty": "略过 {count} 条：没有文字",
        "import_skipped_double": "略过 {count} 条：重复",
        "import_skipped_system": "略过 {count} 条：系统消息",
        "import_skipped_recalled": "略过 {count} 条：已撤回",
        "import_skipped_time": "略过 {count} 条：没有时间",
        "import_skipped_forgotten": "略过 {count} 个要求被彻底删除的人的一切",
        "import_cost": "之后在后台学习：约 {batches} 次模型调用、{tokens} token，受每日上限约束。",
        "import_cost_if": (
            "不学习，原话照样能想起；如要学习请加 learn：约 {batches} 次模型调用、{tokens} token。"
        ),
        "import_confirm": "还没有写入任何内容。确认请发送 /memory import 确认",
        "import_first": "🧠 请先发送 /memory import <文件>，看过预览再确认。",
        "import_goes_on": "⏳ 正在后台导入，用 /memory import 查看进度。",
        "import_done": "🧠 已导入 {messages} 条消息、{rows} 条记录，现在就能想起。",
        "import_nothing": "🧠 这些都已经有了，什么都没有改变。",
        "import_learning": "后台会慢慢学习。",
        "import_wrong": "🧠 这个文件不能导入，什么都没有改变。{reason}",
        "import_failed": "⚠️ 导入没有完成，再次导入会接着来：{reason}",
        "import_undone": "🧠 已撤销导入：删除 {messages} 条消息；之后改动过的 {kept} 条记录保留。",
        "import_undo_none": "🧠 没有可以撤销的导入。",
        "move_how": (
            "🧠 /memory move <旧> <新>，例如 aiocqhttp:group:123 aiocqhttp:group:456，"
            "或两个账号 aiocqhttp:1 aiocqhttp:2，或两个平台 aiocqhttp qq_official"
        ),
        "move_wrong": "🧠 无法迁移：{reason}",
        "move_none": "🧠 那里没有记忆，什么都没有改变。",
        "move_plan": "🧠 将迁移 {circles} 个聊天（{sessions} 个会话）的记忆：",
        "move_line": "· {old} → {new}",
        "move_confirm": "新的聊天里的人将能想起旧聊天里的事。确认请发送 /memory move 确认",
        "move_first": "🧠 请先发送 /memory move <旧> <新>，看过预览再确认。",
        "move_done": "🧠 已迁移，可以在网页的变更里撤销。",
    },
    "en": {
        "export_private": "🧠 Please export in a private chat.",
        "export_denied": (
            "🧠 Only admins may export others' memories. /memory export takes what you may see."
        ),
        "export_wait": "🧠 You have just done so; please try again in a minute.",
        "export_mine": "🧠 These are all the memories that you may see here.",
        "export_done": (
            "🧠 Exported {messages:message} and {facts:fact} ({lines:line}):\n{path}\n"
            "When somebody asks to be deleted for good, exports in the data directory are"
            " deleted as well; move them away to keep them."
        ),
        "export_where": "🧠 Files cannot be sent on this platform; it is here:\n{path}",
        "export_unsent": (
            "🧠 It is too long, and files cannot be sent on this platform; ask an admin."
        ),
        "import_private": "🧠 This command is for admins, in a private chat.",
        "import_files": "🧠 Files that can be imported:",
        "import_none": (
            "🧠 There is no file in imports/. Put one there, in the data directory, or write an"
            " absolute path."
        ),
        "import_file": "· {name} ({size} MB)",
        "import_last": "Last import: {when}, {messages:message}, {rows:row}.",
        "import_how": (
            "/memory import <file> shows what it would bring; /memory import astrbot does so for"
            " AstrBot's own history; /memory import undo.\n"
            "Options: learn, as=format, persona=, platform=, bot=account,"
            " to=chat (for example to=group:123456)"
        ),
        "import_progress": "⏳ Importing: {done}/{total}",
        "import_plan": (
            "🧠 {format}: {messages:message} ({new} new), {facts:fact},"
            " {summaries:conversation} of {chats:Session}."
        ),
        "import_span": "From {since} to {until}",
        "import_chat": "· {chat} ({persona}): {messages}",
        "import_example": "  {name}: {text}",
        "import_format_memory": "an export of this plugin",
        "import_format_astrbot": "AstrBot's history",
        "import_format_chat": "chat lines",
        "import_format_livingmemory": "LivingMemory",
        "import_format_graphmemory": "GraphMemory 0.5",
        "import_format_qq": "QQChatExporter",
        "import_skipped_origin": "Left out: {count} of which nobody knows the chat (to= says it)",
        "import_skipped_empty": "Left out: {count} without words",
        "import_skipped_double": "Left out: {count} that are there twice",
        "import_skipped_system": "Left out: {count} of the system's",
        "import_skipped_recalled": "Left out: {count} that were taken back",
        "import_skipped_time": "Left out: {count} without a time",
        "import_skipped_forgotten": "Left out: all of {count:person|people} asking to be deleted",
        "import_cost": (
            "Learned in the background afterwards: about {batches:model call}, {tokens:token},"
            " within the daily limit."
        ),
        "import_cost_if": (
            "Not learned, the very words are recalled; with learn it would take about"
            " {batches:model call}, {tokens:token}."
        ),
        "import_confirm": "Nothing was written yet. To confirm: /memory import confirm",
        "import_first": "🧠 Send /memory import <file> first and look at what it would bring.",
        "import_goes_on": "⏳ It goes on in the background; /memory import shows how far it is.",
        "import_done": "🧠 {messages:message} and {rows:row} came in and can be recalled now.",
        "import_nothing": "🧠 All of it was here already; nothing has changed.",
        "import_learning": "They are learned in the background.",
        "import_wrong": "🧠 This file cannot be imported, and nothing has changed. {reason}",
        "import_failed": "⚠️ The import is not complete; another attempt goes on: {reason}",
        "import_undone": (
            "🧠 The import is undone: {messages:message} are gone; {kept:row} that were altered"
            " since stay."
        ),
        "import_undo_none": "🧠 There is no import to undo.",
        "move_how": (
            "🧠 /memory move <old> <new>, e.g. aiocqhttp:group:123 aiocqhttp:group:456, or two"
            " accounts aiocqhttp:1 aiocqhttp:2, or two platforms aiocqhttp qq_official"
        ),
        "move_wrong": "🧠 That cannot be moved: {reason}",
        "move_none": "🧠 There are no memories there; nothing has changed.",
        "move_plan": "🧠 The memories of {circles:chat} ({sessions:Session}) would move:",
        "move_line": "· {old} → {new}",
        "move_confirm": (
            "Whoever is in the new chat will be reminded of the old one. To confirm:"
            " /memory move confirm"
        ),
        "move_first": "🧠 Send /memory move <old> <new> first and look at what would move.",
        "move_done": "🧠 Moved; the change can be undone on the memory page.",
    },
}
