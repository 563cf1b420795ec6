"""Small talk and tasks: texts that need no memory.

The former greet, thank, laugh, agree or insult, and say nothing else.
"""

from __future__ import annotations

import re

from .weights import BRIEF

_SAID = re.compile(
    r"(?:早|晚|中午|上午|下午)?(?:上?好|安)|早上?|[您你]好|哈喽|在(?:吗|么|不在)|再见|拜拜"
    r"|(?:明天|晚点|回头)(?:见|聊|说)|[睡困]觉?|(?:周末|节日|新年|生日|圣诞|元旦|春节|假期)(?:愉快|快乐)"
    r"|多?谢谢?|感谢|辛苦|不客气|没事|没关系|对不起|抱歉|加油|恭喜|厉害|棒|不错|可爱|牛|6+"
    r"|行|可以|收到|明白|知道|了解|等一?[下等]|真的(?:假的|吗)?|考考你|猜猜看?|你猜|离谱|笑死|无聊|滚|闭嘴|(?:今天)?天气"
    r"|[嗯哦噢啊唉诶哎呃哈嘿呵嘻嘛呀啦呢吧哇的了嘞我你真太很]+"
    r"|\b(?:hi|hello|hey|yo|good (?:morning|night|evening|afternoon)|bye"
    r"|see you(?: tomorrow| later)?"
    r"|thanks?(?: you)?(?: a lot)?|thx|please|sorry|happy new year"
    r"|you(?:['’]re| are) (?:funny|great|the best|welcome)|ok(?:ay)?|yes"
    r"|yeah|yep|sure|got it|nope?|cool|nice(?: one)?|great|lol|lmao"
    r"|(?:ha)+|wow|ugh|brb|seriously|no way|shut up|(?:are you )?there|i['’]?m bored"
    r"|what['’]s the weather like|today)\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"^(?:请|帮我|给我|麻烦|能不能|可以|你|再|来)*(?:写|翻译|把.+(?:翻译|改)|讲[个一]|唱|画|推荐|解释|总结|润色|算)"
    r"|怎么(?:做|读|写|用|煮|炒|弄)[？?。]*$|等于(?:几|多少)|\d\s*[+\-*/×÷]\s*\d"
    r"|^(?:(?:please|can you|could you)\s+)*(?:write|translate|tell me an?|sing|draw|recommend"
    r"|explain|summari[sz]e|calculate|define|how (?:do|can) (?:i|you)|what does the word)\b",
    re.IGNORECASE,
)


def is_task(text: str) -> bool:
    """Whether a text asks for something that anybody could be given."""
    return _TASK.search(text.strip()) is not None


def is_small_talk(text: str) -> bool:
    """Whether nothing is left of a text without what people say to be polite, or rude."""
    return len(text) <= BRIEF and not any(map(str.isalnum, _SAID.sub("", text)))
