"""Requests to keep what was said between those who talk."""

from __future__ import annotations

import re
from functools import lru_cache

from ..text import simplified

_ME = r"我(?![妈爸姐哥弟妹老爷奶家男女对同领上闺朋孩儿])"
"""The speaker, and not somebody of theirs; who asks to be told asks for no secrecy."""
_WORD = r"(?<![没有特分区差鉴辨性级离告])(?<!(?<![这那])个)"
"""Nothing before 别 that makes a word with it."""
_NOT = rf"{_WORD}(?:别(?!人|的)|不要|不许|不准|不能|不可以|不得|勿|莫要?|甭|唔好)"
_WHO = rf"(?!忘)(?:(?!{_ME})[^，。,.！!？?；;\n]){{1,8}}?"
"""Whom something is not to be told to."""
_TELL = (
    r"(?<![跟和给对同]你)(?<![跟和给对同]你们)(?:告诉|[说讲](?![脏重狠坏大假实]?话|笑|真|定|不|谎|道?理|价|究|课|条件|鬼?故事)"
    r"|提(?!醒|高|前|供|升|议|问|意见|要求|条件|交|货|款|包|取)|透露|泄露|声张|聊起)"
)
_ZH = (
    # 别跟小红说, but neither 别再说了 nor 别听他说
    rf"{_NOT}(?:再|去|先|到处|随便|轻易|当众)*(?:(?<=到处|随便|轻易|当众)乱?"
    rf"|(?:跟|和|与|对|给|向|同(?![意情学])|往|在(?![意乎])|当着){_WHO}){_TELL}(?!你|{_ME})",
    rf"{_NOT}(?:再|去|先)*[跟和对给向同]{_WHO}{_TELL}(?={_ME})",  # 别跟老板说我在面试
    rf"{_NOT}(?:再|去|先)*把[^，。,.！!？?；;\n]{{1,12}}?(?:[说讲传]出去|到处[说讲]|告诉(?!你|{_ME}))",
    rf"{_NOT}(?:{_WHO})?(?<![不没])(?:告诉|话[俾畀])(?!{_ME}|你|过|一声)",
    rf"(?:不想|不打算|不愿意?|[先时]不)(?:告诉|[跟和]{_WHO}{_TELL})(?!你|{_ME})",
    rf"{_NOT}(?:{_WHO})?(?:[说讲传](?:出去|给(?!{_ME}))|说漏|外[传泄说]|声张|透露|泄[露漏]|走漏)",
    rf"{_NOT}(?:再|去|先|到处|随便|乱)*(?:张扬|公开(?!课|赛|场))",
    rf"{_NOT}(?:再|去|先)?[让叫被]{_WHO}(?:知道|晓得|看到|看见|发现)",
    rf"(?:不想|不希望|不愿意?|不打算)(?:让|被)?{_WHO}(?:知道(?!的)|晓得|传出去|说出去)",
    r"(?:千万|可|你也?)(?:别|不要)(?:说(?!话|谎|笑|[，,]?(?:还|真|这))|讲)(?=[^\w]|啊|哦|哈|$)"
    r"|谁(?:问你?)?[都也](?:(?:别|不要|不许)[说讲提]|不能[说讲提](?=[^\w]|啊|哦|哈|$))",
    # 不许说; 别提这事; 这个不能说
    r"(?:不许|不准|别|不要)(?:再|乱)?(?:说|讲|提)(?:[这那](?:件|个)?事|(?<=[许准][说讲提])(?=[啊哦呀！!。]|$))",
    r"[这那](?:个|事儿?|件事)?(?:可|绝对)?(?:不能|不许|不准|不要|别)(?:说|讲|提)(?=[啊哦呀！!。，,]|$)",
    r"(?:帮我|替我|给我|你要|请|先|记得|一定要?|务必|麻烦|可得|必须|帮忙|(?<!要)求|(?<!不)需要|(?<![不没说需必])要(?=保密\W*$))"
    r"(?:绝对|严格)?(?:保密(?![协局工措级的吗么])|瞒着|保守(?!一?点|治|估)|守口如瓶)",
    r"(?:^|[，。！!,. 事先时])保密(?:[哦啊哈呀喔！!。]|$)|对(?!我们?保)[^，。]{1,6}保密|保守秘密",
    r"(?<!不[用想该会必要])(?<!必要)瞒着(?:他|她|大家|我[妈爸]|所有人|别人)",
    r"[这那](?:可|件事|事)?[是算](?:个|我们|咱们?|咱俩|我俩|一个|我)?的?(?:小)?秘密(?!花园|基地|武器)",
    r"(?:咱|我)(?:们)?(?:俩|两个?|两人|之间)?的?之?间?的小?秘密",
    r"你知我知|天知地知|(?:只|就)(?:跟|和)你(?:一个人|自己)?(?:说|讲)|只告诉(?:了)?你|除了你(?:没人|没有人|谁[都也]不)知道"
    r"|[只就](?:告诉你一个|有?(?:你|[咱我]们?[俩两])个?(?:一个人)?知道)",
    r"你(?:一个人|自己|们)?知道就(?:行|好|可以)|到你(?:这儿?|这里)为止|烂在肚子里"
    r"|打死[都也](?:别|不能)说|(?:请|务必|一定要?)?严格保密(?![协局工措级的])|(?:别|不要)(?:转发|外传)(?=[^\w]|啊|哦|哈|给|出去|$)",
)
_EN = (
    r"\b(?<!\bi )(?:do ?n['’]?t|do not|never|please not|not to|can['’]?t|cannot"
    r"|must(?: not| ?n['’]?t))(?: you)?(?: ever)? (?:mention |share |repeat (?!yourself)|spread "
    r"|tell(?:$|[,.!]| (?!me\b|us\b|if\b|how\b|the (?:dif|time)|lies|jokes))|let (?:it )?slip"
    r"|leak |breathe |spill|talk about (?:this|it)|say (?:a word|anything|this|it)"
    r"|let (?!me\b)(?:\w+ ){1,3}?(?:know|find out|hear|see))",
    r"\b(?:s?he|they|m[uo]m|boss) (?:can['’]?t|cannot|must ?n['’]?t) (?:know|find out)\b(?! [hw])",
    r"\bke(?:ep|pt) (?:it|this|that|what i said)(?: all| just)? "
    r"(?:a secret|secret|quiet|private|confidential|to yourself|between us|hush|under wraps)",
    r"\bbetween (?:you and me|us|the two of us|ourselves)\b|\bour (?:little )?secret\b(?! sauce)",
    r"\b(?:it|this|that)(?:['’]?s| is| stays)(?: strictly| really| all| still| kind of)? "
    r"(?:(?:a|my) secret(?! (?:recipe|sauce|weapon|santa))|confidential|private)\b",
    r"\b(?:can|could) you keep a secret\b|\bsworn to secrecy\b"
    r"|\b(?:this|that|it) (?:does|must|should)(?: ?n['’]?t| not) leave this (?:room|chat)\b"
    r"|\boff the record\b|\bin (?:strict )?confidence\b|\bfor your ears only\b"
    r"|\bmum['’]?s the word\b|\bnot a word to\b|\bkeep your (?:mouth shut|lips sealed)\b",
    r"\bno ?(?:body|[- ]?one)(?: else)? (?:should|must|may|can|(?:is|needs) to) "
    r"(?:know|hear|find out)\b|\btell no(?:body| ?one)\b|\bonly you know\b"
    r"|\bi(?:['’]?[av]?[me])? only t(?:elling|old) you\b|\byou wo ?n['’]?t tell\b"
    r"|\b(?:this|it|that) stays (?:here|with you|with me|in this chat)\b"
    r"|\byou did(?:n['’]?t| not) hear (?:it|this|that) from me\b",
    r"\bi do(?:n['’]?t| not) want (?!to )(?:\w+ ){1,4}(?:to )?(?:know|find out|hear about)\b",
)
_KEEP = re.compile("|".join((*_ZH, *_EN)), re.IGNORECASE)
_MAYBE = re.compile(
    r"别|不|勿|莫|甭|唔|瞒|密|你知|除了|[只就有]|天知|只告|跟你|和你|知道就|为止|肚子"
    r"|secret|tell|between|keep|kept|no ?body|no.?one|share|mention|record|confiden|repeat|spread"
    r"|leak|breathe|say|let|word|stays|hear|ears|know|leave|find|spill|told|slip|sworn",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"[这那]件?事儿?|[这那]个|刚才|刚刚|上面|说的|的话|千万|记得|拜托|求你|谢谢|对了|答应我|任何|其他|其它|人家"
    r"|别人|[哦啊呀哈喔嘘我你他她和跟的了吧]"
    r"|\b(?:please|this|that|it|ok|okay|what|i|just|said|told|you|to|any(?:one|body)|else|so|and|but"
    r"|promise|thanks|yet|about|them|him|her|is|a|word|secret|the|by|way|psst)\b",
    re.IGNORECASE,
)
"""What is said around a request and tells nothing."""
_MORE = 5
"""Letters besides, from which a request says itself what is to be kept."""


@lru_cache(maxsize=256)
def asks_to_keep(text: str) -> bool:
    """Whether a message asks that something be told to nobody, or to somebody not."""
    plain = simplified(text)
    return _MAYBE.search(plain) is not None and _KEEP.search(plain) is not None


def reaches_back(text: str) -> bool:
    """Whether a request to keep something means what was said right before it."""
    if not asks_to_keep(text):
        return False
    rest = _ASIDE.sub("", _KEEP.sub("", simplified(text)))
    return sum(character.isalpha() for character in rest) < _MORE
