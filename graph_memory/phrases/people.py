"""What the plugin says about entities that are one and accounts of one person."""

from __future__ import annotations

PEOPLE: dict[str, dict[str, str]] = {
    "zh": {
        "people_private": "🧠 合并人和事物、关联账号只有管理员能做，而且要在私聊里。",
        "people_title": "🧠 合并与关联：",
        "people_none": "🧠 还没有合并过人或事物，也没有关联过账号。",
        "people_merge_line": "· {node}（{facts} 条）→ {into}（{others} 条）",
        "people_link_line": "· {accounts}",
        "people_how": (
            "/memory people merge <甲> <乙> 把甲并入乙，split <甲> 拆开\n"
            "/memory people link <账号> <账号> 同一个人的两个账号，unlink <账号> 取消\n"
            "名字里有空格就加引号"
        ),
        "people_merged": (
            "🧠 合并了：{node}（{facts} 条）并入 {into}（{others} 条），以后按一个算。"
            "谁能看到什么不变。用 /memory undo 撤销。"
        ),
        "people_split": (
            "🧠 拆开了：{node}（{facts} 条）和 {into}（{others} 条）。"
            "合并期间新学到的留给后者。用 /memory undo 撤销。"
        ),
        "people_linked": (
            "🧠 关联了：{accounts}，以后按一个人算：一个账号私聊里的事，另一个账号也能想起。"
            "用 /memory undo 撤销。"
        ),
        "people_unlinked": "🧠 {account} 不再与别的账号关联。用 /memory undo 撤销。",
        "people_which": "🧠 叫“{name}”的不止一个，请改用方括号里的编号：",
        "people_candidate": "· [{id}] {name}，{circle}，{facts} 条：{newest}",
        "people_unknown": "🧠 没有叫“{name}”的人或事物。",
        "people_stranger": "🧠 不认识这个账号：它还没有和我说过话。写成 平台:账号 试试。",
        "people_person": "🧠 那是聊过天的人，有自己的账号：用 /memory people link 关联账号。",
        "people_thing": "🧠 那不是账号：用 /memory people merge 合并。",
        "people_one": "🧠 它们已经是一个了。",
        "people_linked_already": "🧠 这两个账号已经关联了。",
        "people_apart": "🧠 它没有并入别的，没什么可拆的。",
        "people_alone": "🧠 这个账号没有关联别的账号。",
    },
    "en": {
        "people_private": "🧠 Only admins merge entities and link accounts, in a private chat.",
        "people_title": "🧠 Merged and linked:",
        "people_none": "🧠 Nothing is merged and no accounts are linked yet.",
        "people_merge_line": "· {node} ({facts:fact}) → {into} ({others:fact})",
        "people_link_line": "· {accounts}",
        "people_how": (
            "/memory people merge <A> <B>  merges A into B, split <A>  takes it apart\n"
            "/memory people link <account> <account>  two accounts of one person,"
            " unlink <account>\n"
            "Names with spaces go in quotes"
        ),
        "people_merged": (
            "🧠 Merged: {node} ({facts:fact}) goes under {into} ({others:fact}); they are one"
            " from now on. Who may see what stays as it is. /memory undo takes it back."
        ),
        "people_split": (
            "🧠 Apart again: {node} ({facts:fact}) and {into} ({others:fact}). What was learned"
            " meanwhile stays with the latter. /memory undo takes it back."
        ),
        "people_linked": (
            "🧠 Linked: {accounts} are one person from now on: what one said in private, the"
            " other is reminded of. /memory undo takes it back."
        ),
        "people_unlinked": (
            "🧠 {account} is no longer linked to other accounts. /memory undo takes it back."
        ),
        "people_which": '🧠 Several are called "{name}"; use an id in brackets:',
        "people_candidate": "· [{id}] {name}, {circle}, {facts:fact}: {newest}",
        "people_unknown": '🧠 Nobody and nothing is called "{name}".',
        "people_stranger": (
            "🧠 That account is unknown: it has not talked to me yet. Try platform:account."
        ),
        "people_person": "🧠 That is somebody with an account: /memory people link links accounts.",
        "people_thing": "🧠 That is no account: /memory people merge merges.",
        "people_one": "🧠 They are one already.",
        "people_linked_already": "🧠 These accounts are linked already.",
        "people_apart": "🧠 It goes under no other; there is nothing to take apart.",
        "people_alone": "🧠 That account is linked to no other.",
    },
}
