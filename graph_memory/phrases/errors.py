"""How people are told of errors: phrases by an error's code (``graph_memory/errors.py``)."""

from __future__ import annotations

ERRORS: dict[str, dict[str, str]] = {
    "zh": {
        "error_other": "详情见日志",
        "error_where_line": "第 {line} 行",
        "error_no_file": "没有文件 {name}",
        "error_outside": "{name} 不在 imports/ 里",
        "error_too_large": "{name} 太大，最多 {size}",
        "error_kind": "认不出这是哪种文件，可以用 as= 指定：{kinds}",
        "error_unreadable": "文件读不了，详情见日志",
        "error_alien": "这不是要找的那种文件",
        "error_no_json": "不是 JSON",
        "error_no_utf8": "不是 UTF-8 编码",
        "error_cut_off": "文件不完整，缺了末尾",
        "error_newer": "来自更新的版本，请先更新插件",
        "error_no_time": "不是时间",
        "error_missing": "缺了这一项",
        "error_whose": "文件没有说是哪个聊天，请用 to= 指定",
        "error_no_chat": "“{name}”不是一个聊天，请写成 平台:group:群号 或 平台:private:账号",
        "error_content": "内容不合格式",
        "error_way": "旧的和新的要是同一种，而且不能相同",
        "error_place": "“{name}”不是聊天、账号或平台",
        "error_locked": "另一个 AstrBot 正在使用数据目录，请关掉它",
        "error_directory": "数据目录 {path} 用不了，请检查它是否存在、可写",
        "error_damaged": "日志文件 journal.sqlite3 损坏，请用 /memory restore 恢复一份备份",
        "error_restore": "日志文件 journal.sqlite3 损坏，请用 /memory restore {backup} 恢复备份",
        "error_ruined": "日志文件 journal.sqlite3 损坏，又没有可用的备份；把它移走可以从头开始",
        "error_full": "磁盘满了",
        "error_read_only": "数据目录只读",
        "error_busy": "别的程序占用着文件",
        "error_slow": "磁盘没有及时响应",
        "error_broken": "磁盘读写出错",
        "error_graph": "图谱暂时用不了，会自动重建；详情见日志",
        "error_recall": "召回索引落后了，会自动追上；详情见日志",
        "error_backup": "备份还没有做好，会再试；详情见日志",
        "error_embedding": "向量模型用不了，只按词语和名字查找；详情见日志",
        "error_webui": "记忆网页打不开（{where}），换一个 webui_port 试试；详情见日志",
        "error_forgetting": "有 {count} 个人等着被彻底忘记：磁盘写不进去",
        "error_hook": "处理消息时出了错，聊天照常；详情见日志",
        "error_setting": "设置 {name} 填的值不能用，改用 {used}；原因见日志",
        "error_setting_range": "设置 {name} 要在 {low} 到 {high} 之间，改用 {used}",
        "error_setting_choice": "设置 {name} 里的“{value}”不在 {choices} 之中，改用 {used}",
        "error_setting_model": "设置 {name}：没有“{value}”，改用默认的",
        "error_no_room": "磁盘空间不够，要有 {size} MB",
    },
    "en": {
        "error_other": "the log has the details",
        "error_where_line": "line {line}",
        "error_no_file": "there is no file {name}",
        "error_outside": "{name} is not in imports/",
        "error_too_large": "{name} is larger than {size}",
        "error_kind": "what kind of file this is, is not known; as= says it: {kinds}",
        "error_unreadable": "the file cannot be read; the log has the details",
        "error_alien": "this is not the kind of file that is meant",
        "error_no_json": "is no JSON",
        "error_no_utf8": "is no UTF-8",
        "error_cut_off": "the file is cut off: its end is missing",
        "error_newer": "is of a newer version; update the plugin",
        "error_no_time": "is no time",
        "error_missing": "is missing",
        "error_whose": "the file does not say which chat it is from; to= says it",
        "error_no_chat": (
            '"{name}" is no chat; write platform:group:number or platform:private:account'
        ),
        "error_content": "is not as it should be",
        "error_way": "old and new must be of a kind, and not the same",
        "error_place": '"{name}" is no chat, account or platform',
        "error_locked": "another AstrBot uses the data directory; close it",
        "error_directory": "the data directory {path} cannot be used; see that it is writable",
        "error_damaged": "journal.sqlite3 is damaged; put a backup back with /memory restore",
        "error_restore": "journal.sqlite3 is damaged; /memory restore {backup} puts it back",
        "error_ruined": (
            "journal.sqlite3 is damaged and there is no good backup; move it away to begin"
            " with an empty memory"
        ),
        "error_full": "the disk is full",
        "error_read_only": "the data directory is read-only",
        "error_busy": "another program uses the file",
        "error_slow": "the disk does not answer in time",
        "error_broken": "the disk fails",
        "error_graph": "the graph is away and is built anew; the log has the details",
        "error_recall": "the recall index is behind and catches up; the log has the details",
        "error_backup": "no backup was made; it is tried again; the log has the details",
        "error_embedding": (
            "the embedding model cannot be used, so recall goes by words and names;"
            " the log has the details"
        ),
        "error_webui": "the memory page cannot be opened ({where}); try another webui_port",
        "error_forgetting": "{count:person waits|people wait} to be forgotten:"
        " the disk cannot be written",
        "error_hook": "a message was not dealt with, the chat goes on; the log has the details",
        "error_setting": (
            "the setting {name} has a value that cannot be used; {used} is used instead; the log"
            " says why"
        ),
        "error_setting_range": (
            "the setting {name} must be between {low} and {high}; {used} is used instead"
        ),
        "error_setting_choice": (
            'the setting {name} has "{value}", which is not one of {choices}; {used} is used'
            " instead"
        ),
        "error_setting_model": (
            'the setting {name}: there is no "{value}"; the default is used instead'
        ),
        "error_no_room": "the disk has too little room; {size} MB are needed",
    },
}
