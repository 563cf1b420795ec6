"""What the plugin says about what it recalled, pauses and forgets for good."""

from __future__ import annotations

PRIVACY: dict[str, dict[str, str]] = {
    "zh": {
        "why_title": "🧠 上一次回复之前，我想起了：",
        "why_none": "🧠 启动以来，这里还没有哪次回复用到记忆。",
        "why_empty": "🧠 上一次回复之前，我没有想起什么。",
        "why_problem": "🧠 上一次回复之前，记忆没有及时想起，详情见日志。",
        "why_line": "{number}. {text}（{date}；{reasons}）",
        "why_words": "说到同样的词",
        "why_meaning": "意思相近",
        "why_name": "提到了名字",
        "why_profile": "关于说话的人",
        "why_near": "与想起的事有关",
        "why_conversation": "同一段对话",
        "why_dropped": "没有用上：{what}",
        "why_count": "{count} 条{reason}",
        "why_floor": "不够相关",
        "why_excluded": "是刚说的话",
        "why_context": "对话里已有",
        "why_echo": "只是重复刚说的话",
        "why_duplicate": "与别的重复",
        "why_limit": "超出条数",
        "why_budget": "超出字数",
        "paused": (
            "⏸ 好的，从现在起不再记你说的话，在哪里都不记。以前的记忆还在、还能想起，"
            "别人说到你的话是别人的。/memory resume 恢复，/memory forgetme 彻底删除。"
        ),
        "paused_group": "⏸ 好的，从现在起不再记这个群里的话。/memory resume group 恢复。",
        "resumed": "▶️ 好的，又开始记你说的话了。",
        "resumed_group": "▶️ 好的，又开始记这个群里的话了。",
        "pause_admins": "🧠 只有管理员可以让整个群暂停，而且要在那个群里。",
        "remember_paused": "🧠 这里已经暂停记忆，没有记下。先用 /memory resume 恢复。",
        "forgetme_ask": (
            "⚠️ 将彻底删除{who}的一切：说过的话、名字、关于{who}的事实（不管谁说的）、"
            "参与过的对话的摘要，备份里的也删。无法撤销。\n"
            "别人自己说的话会留下，哪怕提到了{who}；我在别人私聊里的回复也会留下。"
            "AstrBot 自己的对话历史不归我管，请用 /reset 清除。\n"
            "{minutes} 分钟内发送 /memory forgetme 确认"
        ),
        "forgetme_only": "ℹ️ 只删除{who}的这一个账号。",
        "forgetme_others": (
            "ℹ️ 只删除{who}的这一个账号。关联的账号（{accounts}）不会删除，要在那边另外发送。"
        ),
        "forgetme_you": "你",
        "forgetme_user": "用户 {user} ",
        "forgetme_first": "🧠 请先发送 /memory forgetme，看过说明再确认。",
        "forgetme_denied": "🧠 只有管理员可以在私聊里替别人删除。",
        "forgetme_done": (
            "🧠 已彻底删除。备份、图谱等文件里的残留一天之内清理完；在那之前恢复备份也不会回来。"
            "之后说的话会重新开始记；不想再被记住请用 /memory pause。对话历史请用 /reset 清除。"
        ),
        "forgetme_recorded": (
            "⚠️ 还什么都没有删除：磁盘写不进去。已经记下，一能写就自动删除，重启也不会忘。"
        ),
        "forgetme_noted": (
            "⚠️ 还什么都没有删除：磁盘满了或不可写，连这个请求都存不下来。"
            "我会不断重试，一能写就删除；如果在那之前机器人重启过，请再发一次。"
        ),
        "forgetme_soon": "🧠 刚刚才彻底删除过，{minutes} 分钟后可以再删一次。",
    },
    "en": {
        "why_title": "🧠 Before the last reply I remembered:",
        "why_none": "🧠 Since the start no reply here has made use of the memory.",
        "why_empty": "🧠 Before the last reply nothing came to mind.",
        "why_problem": (
            "🧠 Before the last reply the memory was not in time; the log has the details."
        ),
        "why_line": "{number}. {text} ({date}; {reasons})",
        "why_words": "the same words",
        "why_meaning": "a similar meaning",
        "why_name": "a name that was mentioned",
        "why_profile": "about who speaks",
        "why_near": "linked to what came to mind",
        "why_conversation": "the same conversation",
        "why_dropped": "Left out: {what}",
        "why_count": "{count} {reason}",
        "why_floor": "not relevant enough",
        "why_excluded": "said just now",
        "why_context": "in the conversation already",
        "why_echo": "only repeating what was said",
        "why_duplicate": "said by another line",
        "why_limit": "too many",
        "why_budget": "too long",
        "paused": (
            "⏸ All right: from now on nothing you say is remembered, anywhere. What was"
            " remembered before is still there and recalled; what others say about you is"
            " theirs. /memory resume goes on, /memory forgetme deletes everything."
        ),
        "paused_group": (
            "⏸ All right: from now on nothing said in this group is remembered."
            " /memory resume group goes on."
        ),
        "resumed": "▶️ All right: what you say is remembered again.",
        "resumed_group": "▶️ All right: what is said in this group is remembered again.",
        "pause_admins": "🧠 Only an admin can pause a whole group, from within it.",
        "remember_paused": "🧠 The memory is paused here, so this was not kept: /memory resume",
        "forgetme_ask": (
            "⚠️ This deletes everything of {who}: all that was said, names, the facts about"
            " {who} whoever told them, summaries of conversations {who} took part in; from the"
            " backups, too. It cannot be undone.\n"
            "Other people's own words stay, and so do my replies in their private chats, even"
            " if they mention {who}. AstrBot's own history of the chat is not mine: /reset"
            " clears it.\n"
            "Within {minutes:minute} send /memory forgetme confirm"
        ),
        "forgetme_only": "ℹ️ This deletes only this one account of {who}.",
        "forgetme_others": (
            "ℹ️ This deletes only this one account of {who}. The linked ones ({accounts}) stay;"
            " send it from there as well."
        ),
        "forgetme_you": "you",
        "forgetme_user": "user {user}",
        "forgetme_first": "🧠 Send /memory forgetme first and read what it does.",
        "forgetme_denied": "🧠 Only an admin can delete somebody else, in a private chat.",
        "forgetme_done": (
            "🧠 Everything is deleted from the memory. What is left of it in files (backups, the"
            " graph) is cleaned within a day; restoring a backup before then brings nothing"
            " back. What is said from now on is remembered anew; /memory pause if you do not"
            " want that. /reset clears the chat's history."
        ),
        "forgetme_recorded": (
            "⚠️ Nothing is deleted yet: the disk cannot be written. The wish is kept; it is"
            " carried out as soon as possible, even after a restart."
        ),
        "forgetme_noted": (
            "⚠️ Nothing is deleted yet: the disk is full or read-only, and not even the wish"
            " could be stored. I keep trying and delete as soon as I can; if the bot was"
            " restarted before that, please send it again."
        ),
        "forgetme_soon": (
            "🧠 Everything was deleted just now; it can be done again in {minutes:minute}."
        ),
    },
}
