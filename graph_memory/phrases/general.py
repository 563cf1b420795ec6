"""What the plugin says about the memory as a whole, facts, backups and personas."""

from __future__ import annotations

GENERAL: dict[str, dict[str, str]] = {
    "zh": {
        "away": "🧠 记忆暂时不可用，请联系管理员。",
        "away_admin": "🧠 记忆没有启动：{reason}",
        "failed": "🧠 出错了，详情见日志。",
        "unknown_sender": "🧠 认不出发送者，无法使用记忆。",
        "status": "🧠 记忆正常。这里关于你的记忆有 {mine} 条，用 /memory mine 查看。",
        "status_more": "详细状态只在与管理员的私聊里显示。",
        "health_title": "🧠 图忆 GraphMemory",
        "health_counts": (
            "事实 {facts} · 情节 {episodes} · 总结 {records} · 消息 {messages}（待学习 {buffered}）"
        ),
        "health_index": "召回索引：{state}，{items} 条，{vectors} 条有向量",
        "health_embedder": "向量模型：{name}",
        "health_graph": "图谱：{state}（变更 {applied}）",
        "graph_ready": "就绪",
        "graph_building": "建立中",
        "graph_failed": "用不了",
        "graph_closed": "已关闭",
        "health_learning": "学习：等待 {waiting} 批，失败 {dead} 批",
        "health_spending": "今天的模型用量：{purposes}；共 {tokens} token，上限 {limit}",
        "health_purpose": "{purpose} {calls} 次 {tokens} token",
        "purpose_learn": "学习",
        "purpose_rewrite": "改写查询",
        "purpose_records": "写摘要",
        "no_limit": "不限",
        "nothing_spent": "还没有调用",
        "list_comma": "，",
        "spent": (
            "⏸ 今天的模型用量到了上限 {limit} token：学习等到零点再继续，"
            "调高 daily_llm_tokens 则立刻继续；聊天照常。"
        ),
        "health_error": "最近没学成：第 {batch} 批，{error}",
        "health_upkeep": "上次整理：{when}；累计删去旧消息 {thinned} 条",
        "health_web": "记忆网页：{url}",
        "health_problem": "⚠️ {problem}",
        "storage_full": "⚠️ 磁盘满了，新消息没有保存，聊天照常。请腾出空间，之后会自动恢复。",
        "storage_read_only": (
            "⚠️ 数据目录只读，新消息没有保存，聊天照常。请改为可写，之后会自动恢复。"
        ),
        "storage_busy": (
            "⚠️ 别的程序占用着日志文件，新消息没有保存，聊天照常。请关掉它，之后会自动恢复。"
        ),
        "storage_slow": (
            "⚠️ 磁盘没有及时响应，新消息没有保存，聊天照常。请检查磁盘，之后会自动恢复。"
        ),
        "storage_damaged": "⚠️ 日志文件损坏，新消息没有保存，聊天照常。请恢复一份备份。",
        "storage_replaced": (
            "⚠️ 日志文件在运行中被删除、替换或截断了，新消息没有保存，聊天照常。"
            "请把原来的文件放回去，或用 /memory restore 恢复备份，然后重载插件。"
        ),
        "storage_broken": "⚠️ 日志写入失败，新消息没有保存，聊天照常。请检查磁盘，详情见日志。",
        "breaker": "⏸ {what}连续失败 {failures} 次，暂停使用，{seconds} 秒后再试：{reason}",
        "breaker_embedding": "向量模型",
        "breaker_learning": "学习用的语言模型",
        "breaker_rewriting": "改写查询的语言模型",
        "restore_title": "🧠 备份，新的在前：",
        "restore_line": "· {name}（{size} MB）",
        "restore_how": "用 /memory restore <名称> 查看会恢复成什么样。",
        "restore_none": "🧠 还没有备份。用 /memory backup 立即备份一份。",
        "restore_preview": "🧠 这份备份做于 {when}，有 {messages} 条消息、{facts} 条事实。",
        "restore_change": "与现在相比：消息 {messages}，事实 {facts}，变更 {changes}。",
        "restore_unreadable": "现在的日志无法读取，会留在一旁，不会删除。",
        "restore_confirm": "确认请发送 /memory restore {name} 确认（现在的状态会先备份）。",
        "restore_unknown": "🧠 没有名为 {name} 的备份。用 /memory restore 列出。",
        "restore_failed": "🧠 这份备份无法使用：{reason}",
        "restore_done": "🧠 已恢复 {name}，记忆已重新打开；图谱和索引正在后台重建。",
        "restore_private": "🧠 请管理员在私聊里使用这条指令。",
        "backup_made": "🧠 已备份：{name}",
        "doctor_title": "🩺 检查完成，用时 {seconds} 秒",
        "doctor_well": "日志、图谱和召回索引一致。",
        "doctor_counts": "可召回 {items} 条，其中 {vectors} 条有向量；图谱到变更 {changes}",
        "doctor_mended": "✅ 已修复：{what}",
        "doctor_left": "⚠️ 没能修复：{what}",
        "doctor_log": "详情见日志。",
        "doctor_damaged": "日志文件损坏（{count} 处），请恢复一份备份",
        "doctor_unreadable": "日志里有 {count} 条记录无法读取，已跳过；如需找回请恢复备份",
        "doctor_misfiled": "日志里有 {count} 条记录的索引不对",
        "doctor_stray_messages": "{count} 条消息不属于任何已知的会话",
        "doctor_stray_batches": "{count} 批待学习的消息不属于任何已知的会话，已放弃",
        "doctor_lost_batches": "{count} 条消息所属的批次不存在",
        "doctor_done_batches": "{count} 批消息已经学过却还在排队",
        "doctor_journal_away": "日志现在无法检查",
        "doctor_graph": "图谱和日志不一致（{count} 张表），已重建",
        "doctor_graph_away": "图谱现在不可用",
        "doctor_index": "召回索引和日志不一致（{count} 条），已重建",
        "doctor_index_vectors": "{count} 条记忆缺少向量，已重新排队",
        "doctor_index_away": "召回索引现在无法重建",
        "ready": "就绪",
        "building": "建立中",
        "none": "无（仅按词语和名字）",
        "never": "还没有",
        "mine_title": "🧠 我记得的关于你的事：",
        "mine_none": "🧠 这里还没有关于你的记忆。",
        "search_title": "🧠 想起了：",
        "search_none": "🧠 没有想起相关的事。",
        "search_what": "🧠 要找什么？例如：/memory search 生日",
        "fact_line": "{number}. {statement}（{date}，强度 {strength}%）",
        "item_numbered": "{number}. {text}",
        "item_plain": "· {text}",
        "forget_hint": (
            "用 /memory forget <编号> 忘掉其中一条，/memory correct <编号> <说法> 更正。"
        ),
        "remember_what": "🧠 要记住什么？例如：/memory remember 我对花生过敏",
        "remembered": "🧠 记住了。",
        "group_off": "🧠 群聊记忆已关闭。",
        "flushed": "🧠 已学习 {batches} 批消息。",
        "flushed_waiting": "还有 {waiting} 批没有学成，等待重试。",
        "flushed_dead": "有 {dead} 批已不再重试，/memory flush 全部 可以再试一次。",
        "forget_what": "🧠 要忘掉哪一条？先用 /memory mine 或 /memory search 列出，再输入编号。",
        "forget_number": "🧠 没有编号 {number}，请先用 /memory mine 或 /memory search 列出。",
        "forget_denied": "🧠 没有这条记忆，或者它不是你的。",
        "forgotten": "🧠 已忘掉：{statement}\n用 /memory undo 撤销。",
        "forgotten_id": "🧠 已忘掉这条记忆。用 /memory undo 撤销。",
        "correct_what": (
            "🧠 要更正哪一条？先用 /memory mine 或 /memory search 列出，"
            "再发送 /memory correct <编号> <正确的说法>"
        ),
        "correct_denied": "🧠 没有这条记忆，或者它不是你能更正的。",
        "corrected": (
            "🧠 已更正：{statement}\n你以前的说法留作历史，别人说的会并列留着。"
            "用 /memory undo 撤销。"
        ),
        "undone": "🧠 已撤销。",
        "undone_forget": "🧠 已撤销：上一次忘掉的，又记起来了。",
        "undone_correct": "🧠 已撤销上一次更正。",
        "undone_remember": "🧠 已撤销上一次记住。",
        "undo_none": "🧠 没有可以撤销的。",
        "undo_conflict": (
            "🧠 这一次撤销不了了：在那之后，同一条记忆又有了变化。"
            "可以用 /memory mine 列出后忘掉或更正；再发送 /memory undo 撤销更早的一次。"
        ),
        "preview_title": "🧠 按现在的设置，如果一直不再提起：",
        "preview_now": "现在就会归档",
        "preview_days": "{days} 天内会归档",
        "preview_count": "{label}：{total} 条",
        "preview_line": "  · {statement}（强度 {strength}%）",
        "preview_private": "🧠 预览只在与管理员的私聊里显示。",
        "preview_never": "🧠 按现在的设置，什么也不会忘。",
        "persona_list": "人格：{personas}\n当前：{current}",
        "persona_usage": "/persona <人格> 切换，/persona unset 取消人格，/new <人格> 新对话",
        "persona_none": "（无）",
        "persona_unknown": "没有人格“{name}”。可用：{personas}",
        "persona_set": "已切换到人格“{name}”。",
        "persona_unset": "已取消人格。",
        "persona_new": "已创建新对话，使用人格“{name}”。",
        "persona_forced": (
            "但这个会话的规则固定使用人格“{current}”，切换没有生效；请在管理面板里修改会话规则。"
        ),
    },
    "en": {
        "away": "🧠 The memory is not available; please tell an admin.",
        "away_admin": "🧠 The memory did not start: {reason}",
        "failed": "🧠 Something went wrong; the log has the details.",
        "unknown_sender": "🧠 The sender is unknown, so the memory cannot be used.",
        "status": "🧠 The memory is fine. I know {mine:thing} about you here: /memory mine",
        "status_more": "Details are shown to admins in a private chat only.",
        "health_title": "🧠 GraphMemory",
        "health_counts": (
            "{facts:fact} · {episodes:episode} · {records:summary|summaries}"
            " · {messages:message} ({buffered} not learned yet)"
        ),
        "health_index": "Recall index: {state}, {items:item}, {vectors} with a vector",
        "health_embedder": "Embedding model: {name}",
        "health_graph": "Graph: {state} (change {applied})",
        "graph_ready": "ready",
        "graph_building": "building",
        "graph_failed": "away",
        "graph_closed": "closed",
        "health_learning": "Learning: {waiting:batch|batches} waiting, {dead} failed",
        "health_spending": "Models today: {purposes}; {tokens:token} in all, limit {limit}",
        "health_purpose": "{purpose} {calls:call}, {tokens:token}",
        "purpose_learn": "learning",
        "purpose_rewrite": "rewriting queries",
        "purpose_records": "summaries",
        "no_limit": "none",
        "nothing_spent": "not asked",
        "list_comma": "; ",
        "spent": (
            "⏸ Models have cost the {limit:token} that they may cost a day: learning goes on"
            " after midnight, or at once with a higher daily_llm_tokens. The chat goes on."
        ),
        "health_error": "Not learned lately: batch {batch}, {error}",
        "health_upkeep": "Last upkeep: {when}; {thinned:old message} deleted so far",
        "health_web": "Memory page: {url}",
        "health_problem": "⚠️ {problem}",
        "storage_full": (
            "⚠️ The disk is full: new messages are not kept, the chat goes on."
            " Free some space; it recovers by itself."
        ),
        "storage_read_only": (
            "⚠️ The data directory is read-only: new messages are not kept, the chat goes on."
            " Make it writable; it recovers by itself."
        ),
        "storage_busy": (
            "⚠️ Another program uses the journal's file: new messages are not kept, the chat"
            " goes on. Close it; it recovers by itself."
        ),
        "storage_slow": (
            "⚠️ The disk does not answer in time: new messages are not kept, the chat goes on."
            " Look after the disk; it recovers by itself."
        ),
        "storage_damaged": (
            "⚠️ The journal's file is damaged: new messages are not kept, the chat goes on."
            " Restore a backup."
        ),
        "storage_replaced": (
            "⚠️ The journal's file was deleted, replaced or cut off while it was in use: new"
            " messages are not kept, the chat goes on. Put the file back or restore a backup"
            " (/memory restore), then reload the plugin."
        ),
        "storage_broken": (
            "⚠️ The journal cannot be written: new messages are not kept, the chat goes on."
            " Look after the disk; the log has the details."
        ),
        "breaker": (
            "⏸ {what} failed {failures:time} in a row and is left alone, next try in {seconds} s:"
            " {reason}"
        ),
        "breaker_embedding": "The embedding model",
        "breaker_learning": "The language model that learns",
        "breaker_rewriting": "The language model that rewrites queries",
        "restore_title": "🧠 Backups, newest first:",
        "restore_line": "· {name} ({size} MB)",
        "restore_how": "/memory restore <name> shows what it would bring back.",
        "restore_none": "🧠 There is no backup yet. /memory backup makes one now.",
        "restore_preview": "🧠 Made {when}, with {messages:message} and {facts:fact}.",
        "restore_change": "Against now: messages {messages}, facts {facts}, changes {changes}.",
        "restore_unreadable": "The journal of now cannot be read; it is put aside, not deleted.",
        "restore_confirm": "To confirm: /memory restore {name} confirm (now is backed up first).",
        "restore_unknown": "🧠 There is no backup {name}. /memory restore lists them.",
        "restore_failed": "🧠 That backup cannot be used: {reason}",
        "restore_done": "🧠 {name} is back and the memory open again; graph and index follow.",
        "restore_private": "🧠 This command is for admins, in a private chat.",
        "backup_made": "🧠 Backed up: {name}",
        "doctor_title": "🩺 Checked, in {seconds} s",
        "doctor_well": "Journal, graph and recall index agree.",
        "doctor_counts": (
            "{items:memory|memories} can be recalled, {vectors} of them have a vector;"
            " the graph is at change {changes}"
        ),
        "doctor_mended": "✅ Mended: {what}",
        "doctor_left": "⚠️ Not mended: {what}",
        "doctor_log": "The log has the details.",
        "doctor_damaged": "the journal's file is damaged ({count:place}); restore a backup",
        "doctor_unreadable": (
            "{count:row} of the journal cannot be read, so left out; a backup may have what is lost"
        ),
        "doctor_misfiled": "under the wrong keys of the journal: {count:row}",
        "doctor_stray_messages": "{count:message} of no known chat",
        "doctor_stray_batches": (
            "{count:batch|batches} to be learned belonged to no known chat: given up"
        ),
        "doctor_lost_batches": "{count:message} of batches that do not exist",
        "doctor_done_batches": "{count:batch|batches} in the queue that had been learned",
        "doctor_journal_away": "the journal cannot be examined now",
        "doctor_graph": "the graph differed from the journal ({count:table}) and was rebuilt",
        "doctor_graph_away": "the graph is not available now",
        "doctor_index": "the recall index differed from the journal ({count}) and was rebuilt",
        "doctor_index_vectors": "{count:memory|memories} without a vector, queued for one again",
        "doctor_index_away": "the recall index cannot be rebuilt now",
        "ready": "ready",
        "building": "building",
        "none": "none (words and names only)",
        "never": "not yet",
        "mine_title": "🧠 What I know about you:",
        "mine_none": "🧠 I know nothing about you here yet.",
        "search_title": "🧠 I remember:",
        "search_none": "🧠 Nothing comes to mind.",
        "search_what": "🧠 What shall I look for? For example: /memory search birthday",
        "fact_line": "{number}. {statement} ({date}, strength {strength}%)",
        "item_numbered": "{number}. {text}",
        "item_plain": "· {text}",
        "forget_hint": (
            "/memory forget <number> forgets one of them, /memory correct <number> <how it is>"
            " corrects it."
        ),
        "remember_what": "🧠 What shall I remember? E.g. /memory remember I am allergic to nuts",
        "remembered": "🧠 I will remember that.",
        "group_off": "🧠 Memory is turned off for groups.",
        "flushed": "🧠 Learned {batches:batch|batches} of messages.",
        "flushed_waiting": "{waiting:batch was|batches were} not learned; tried again later.",
        "flushed_dead": "{dead:batch is|batches are} given up; /memory flush all tries again.",
        "forget_what": "🧠 Forget which one? List them with /memory mine or /memory search first.",
        "forget_number": "🧠 There is no number {number}; list first with /memory mine or search.",
        "forget_denied": "🧠 There is no such memory, or it is not yours.",
        "forgotten": "🧠 Forgotten: {statement}\n/memory undo takes it back.",
        "forgotten_id": "🧠 Forgotten. /memory undo takes it back.",
        "correct_what": (
            "🧠 Correct which one? List them with /memory mine or /memory search first, then"
            " /memory correct <number> <how it is>"
        ),
        "correct_denied": "🧠 There is no such memory, or it is not yours to correct.",
        "corrected": (
            "🧠 Corrected: {statement}\nWhat you said before stays as history, what others"
            " said stands beside it. /memory undo takes it back."
        ),
        "undone": "🧠 Undone.",
        "undone_forget": "🧠 Undone: what you forgot last is back.",
        "undone_correct": "🧠 Undone: your last correction.",
        "undone_remember": "🧠 Undone: what you had me remember last.",
        "undo_none": "🧠 There is nothing to undo.",
        "undo_conflict": (
            "🧠 That cannot be undone any more: the same memory has changed since. You can list it"
            " with /memory mine and forget or correct it; /memory undo again undoes what you did"
            " before that."
        ),
        "preview_title": "🧠 With the present settings, if nothing is mentioned again:",
        "preview_now": "archived right away",
        "preview_days": "archived within {days:day}",
        "preview_count": "{label}: {total}",
        "preview_line": "  · {statement} (strength {strength}%)",
        "preview_private": "🧠 The preview is shown to admins in a private chat only.",
        "preview_never": "🧠 With the present settings nothing is ever forgotten.",
        "persona_list": "Personas: {personas}\nCurrent: {current}",
        "persona_usage": "/persona <persona> switches, /persona unset, /new <persona> starts anew",
        "persona_none": "(none)",
        "persona_unknown": 'There is no persona "{name}". There are: {personas}',
        "persona_set": 'Switched to persona "{name}".',
        "persona_unset": "The persona is unset.",
        "persona_new": 'New conversation with persona "{name}".',
        "persona_forced": (
            'But a rule of this session fixes the persona to "{current}", so the switch has no '
            "effect; change the session's rule in the dashboard."
        ),
    },
}
