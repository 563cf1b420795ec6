"""What commands take: every line of ``/memory help``, and what is said to anything else.

The lines stand in the order of the help; a test compares them with the commands there are.
"""

from __future__ import annotations

HELP: dict[str, dict[str, str]] = {
    "zh": {
        "help_title": "🧠 图忆：我会记住聊过的人和事。（英文指令也行，如 /memory mine）",
        "help_mine": "/记忆 我的：我记得的关于你的事",
        "help_search": "/记忆 搜索 <内容>：查找记忆",
        "help_remember": "/记忆 记住 <内容>：记住一件事",
        "help_forget": "/记忆 忘掉 <编号>：忘掉刚才列出的一条",
        "help_correct": "/记忆 更正 <编号> <正确的说法>：更正刚才列出的一条",
        "help_undo": "/记忆 撤销：撤销你的上一次改动",
        "help_records": "/记忆 记录 [编号] [页]：最近的对话记录，翻看原话",
        "help_core": "/记忆 核心 [固定|取消固定|改|删 <编号>]：始终记得的要点",
        "help_inner": "/记忆 内心 [历史|换回 <编号>]：我的内心",
        "help_proactive": "/记忆 主动 [取消 <编号>]：我打算主动说的话",
        "help_status": "/记忆 状态：记忆的状态",
        "help_why": "/记忆 为什么：上次回复前想起了什么",
        "help_pause": "/记忆 暂停 [群]：不再记你说的话；加“群”是整个群，限管理员",
        "help_resume": "/记忆 继续 [群]：又开始记",
        "help_forgetme": "/记忆 忘记我：彻底删除关于你的一切",
        "help_export": "/记忆 导出：带走你看得到的记忆；管理员可加“全部”或账号",
        "help_help": "/记忆 帮助：列出这些",
        "help_admins": "管理员：",
        "help_people": "/记忆 人物 [合并|拆分|关联|取消关联 …]：合并人物、关联账号",
        "help_flush": "/记忆 学习 [全部]：立刻学习攒下的消息",
        "help_preview": "/记忆 预览：看看哪些将被淡忘",
        "help_backup": "/记忆 备份：立即备份",
        "help_restore": "/记忆 恢复 [名称] [确认]：列出、预览、恢复备份",
        "help_doctor": "/记忆 检查：检查并修复",
        "help_import": "/记忆 导入 [文件|撤销|确认]：导入历史",
        "help_move": "/记忆 迁移 <旧> <新>：聊天换了号",
        "help_personas": "/persona 查看或切换人格，/new <人格> 用该人格开始新对话",
    },
    "en": {
        "help_title": "🧠 GraphMemory remembers people and things you talk about.",
        "help_mine": "/memory mine: what I know about you",
        "help_search": "/memory search <text>: look something up",
        "help_remember": "/memory remember <text>: remember something",
        "help_forget": "/memory forget <number>: forget a line listed just now",
        "help_correct": "/memory correct <number> <how it is>: correct a line listed just now",
        "help_undo": "/memory undo: take your last change back",
        "help_records": "/memory records [number] [page]: recent conversations, the very words",
        "help_core": "/memory core [pin|unpin|edit|drop <number>]: what is always kept in mind",
        "help_inner": "/memory inner [history|back <number>]: my inner state",
        "help_proactive": "/memory proactive [cancel <number>]: when I mean to speak first",
        "help_status": "/memory status: how the memory is doing",
        "help_why": "/memory why: what the last reply recalled",
        "help_pause": "/memory pause [group]: remember nothing you say (admins: of a group)",
        "help_resume": "/memory resume [group]: remember again",
        "help_forgetme": "/memory forgetme: delete everything about you for good",
        "help_export": "/memory export: take what you may see away; admins: all, or an account",
        "help_help": "/memory help: lists these",
        "help_admins": "Admins:",
        "help_people": "/memory people [merge|split|link|unlink …]: merge people, link accounts",
        "help_flush": "/memory flush [all]: learn now",
        "help_preview": "/memory preview: what would fade",
        "help_backup": "/memory backup: back up now",
        "help_restore": "/memory restore [name] [confirm]: list, preview, restore backups",
        "help_doctor": "/memory doctor: check and mend",
        "help_import": "/memory import [file|undo|confirm]: bring a history in",
        "help_move": "/memory move <old> <new>: a chat has moved",
        "help_personas": (
            "/persona: list or switch personas, /new <persona>: a new conversation with it"
        ),
    },
}

USAGE: dict[str, dict[str, str]] = {
    "zh": {
        **HELP["zh"],
        "no_command": "🧠 没有“{given}”这个指令，什么都没有做。",
        "no_command_like": "🧠 没有“{given}”这个指令，什么都没有做。是不是想用 {meant}？",
        "no_command_help": "发送 /记忆 帮助 查看全部指令。",
        "misused": "🧠 没有看懂“{given}”，什么都没有做。用法：",
        "misused_like": "🧠 没有看懂“{given}”（是不是“{meant}”？），什么都没有做。用法：",
        "no_account": "🧠 没有见过账号 {user}，什么都没有做。请核对账号，或写成 平台:账号。",
    },
    "en": {
        **HELP["en"],
        "no_command": '🧠 There is no command "{given}"; nothing was done.',
        "no_command_like": (
            '🧠 There is no command "{given}"; nothing was done. Did you mean {meant}?'
        ),
        "no_command_help": "/memory help lists all commands.",
        "misused": '🧠 "{given}" was not understood; nothing was done. Usage:',
        "misused_like": (
            '🧠 "{given}" was not understood (did you mean "{meant}"?); nothing was done. Usage:'
        ),
        "no_account": (
            "🧠 Nobody with the account {user} is known, so nothing was done. Check the account,"
            " or write platform:account."
        ),
    },
}
