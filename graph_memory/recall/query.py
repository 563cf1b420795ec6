"""Query analysis: the questions in a message, what they ask for, and small talk."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ..dates import without_times
from ..inference.ports import Vectors
from ..kinship import kin_in, same_kin
from ..model import PREDICATES, Asker
from ..privacy.redaction import redacted
from ..text import CJK, clean, is_chinese, normalise, simplified, terms
from .lexical import search_terms, telling_characters
from .weights import BRIEF, FEW, MINOR

MAX_QUERY = 2_000
"""Characters of a message that are searched for."""
MAX_PARTS = 4
MAX_TURNS = 16
"""Last places of a message that are looked at for where it comes to the point."""

_TOPIC = re.compile(
    r"(?:(?<=[。！？!?；;\n，,.])|^)\s{0,9}"
    r"(?:另外|此外|还有|顺便(?:再?问(?:一下|下)?)?"
    r"|(?:and )?(?:also|besides|by the way|another thing)\b)"
    r"[，,、：:]?\s*",
    re.IGNORECASE,
)
"""Where a message goes on to something else."""
_TURN = re.compile(
    r"(?:(?<=[。！？!?；;\n，,.…])|^)\s{0,9}"
    r"(?:等等|等一下|停一下|不对|不是|搞错了|说错了|说正事|言归正传|话说回来|不好意思|抱歉|对不起"
    r"|实际上|其实|对了|(?:wait|hold on|never ?mind|scratch that|anyway|actually|sorry)\b)"
    r"|(?:想|要)(?:要|再|跟你|请你)?(?:问|说|知道|了解|打听|请教|搞清楚|弄清楚)[^，。：:,]{0,6}[是，：:,]+"
    r"|问题是"
    r"|\bmy (?:real |actual )?question is\b"
    r"|\b(?:want(?:ed)?|meant|mean) to (?:ask|know)\b(?: is| was)?",
    re.IGNORECASE,
)
"""Where a message breaks off and comes to the point."""
_LEADING = re.compile(r"^(?:[\s，,。.、：:；;!！…哈]|这个[，：:])+")
_BORDER = re.compile(
    r"(?<=[。！？!?；;\n])(?![。！？!?；;\n\"”』」)）])|(?<=[a-z0-9]{3}\.)\s+(?=[A-Z])"
)
"""Between sentences; not inside of quotations or after initials."""
_QUESTION_WORD = (
    r"(?:(?:for|in|at|on|with|to|from) )?(?:what|whom?|whose|where|when|which|why|how)(?:['’]?s)?\b"
)
_ASKS = re.compile(
    r"[？?]\s*$|什么|干嘛|[啥谁哪几吗呢咋]|多少|怎么|怎样|如何|是否|有没有|是不是|多[大高长久远重]"
    rf"|^\s*(?:{_QUESTION_WORD}|(?:do|does|did|is|are|was|were|can|could"
    r"|have|has|will|would|should|any(?:thing|body|one)?|tell me)\b)",
    re.IGNORECASE,
)
_UNMARKED = re.compile(
    r"^(?!.*[都也]|.*啥.*啥).*(?:吗|^(?:还有|[^在还才没正着可好]{1,5})呢\W*$|来着|什么|干[嘛啥]|[在去到]哪|哪[里儿个天家年些位种所的几门科款]|多少(?!有[点些])"
    r"|(?<!不)(?:怎么|咋)|(?<![好十没])几(?:[点号岁班楼路码]|公寓|单元|年级)|(?P<v>[^时动])[不没唔](?P=v)"
    r"|(?<![不没爱论管谁])(?:谁(?![谁不没让叫说知料])|谁不[吃喝去来在]|是谁)|(?<!没)啥(?!大不|了不)|哪了?\W*$"
    r"|(?<![冇无没])咩|几时|(?<=[喺系去住到])边\W*$|边[度个位]|点[解样]"
    r"|(?<![没不管论过])多[大高长重久远](?:岁数|年纪)?(?:[了咧]|的\w{1,3})?\W*$|几口人\W*$|了没有?\W*$"
    r"|(?:记得|知道).{1,16}[不没]\W*$)"
    r"|^(?:(?!.*[没不忘管]).*都.{0,8}(?:什么|啥|哪些?|谁|多少)[呀啊]?|说说你.{1,8}我的?(?:事情?)?|介绍一?下我(?:自己)?)\W*$"
    r"|^(?:do|does|did|am|are|was|were|can|could|have|has|will|should) (?:i|we)\b"
    r"(?! (?:tell|told|mention))|^does\b(?! not)"
    r"|^(?:is|are) (?:he|she|they|there)\b|^(?:can|will|should) (?:my|our)\b"
    rf"|^{_QUESTION_WORD}|^(?:tell|remind) me (?:about |{_QUESTION_WORD})"
    r"|^do you (?:still )?re(?:member|call) "
    rf"(?:{_QUESTION_WORD}|(?:me|(?:my|our) \w+(?: \w+)?)\W*$)",
    re.IGNORECASE,
)
"""A question without its mark, as a clause."""
_WONDERS = re.compile(
    r"来着|(?P<v>\w)[不没](?P=v)|[没不]有?\W*$|还是|吧\W*$|(?:告诉|提醒)我"
    r"|^(?:am|(?:what|who|where|when|which|how)\w*)\b|\bagain\W*$|\bor (?:not|what)\b"
    r"|\bremind me\b",
    re.IGNORECASE,
)
"""What somebody may be asking who writes no question mark."""
_WHO = re.compile(r"谁|\bwho(?:m|se)?\b", re.IGNORECASE)
_CLAUSE = re.compile(
    rf"[，,]\s*(?:and )?|(?<=[{CJK}])\s+(?=[{CJK}])|\band (?={_QUESTION_WORD})", re.IGNORECASE
)
"""Between the clauses of a sentence."""
_PARTED = re.compile(r"([分结离订吵见毕请搬住辞领考])(?:[的了过]|过了)([手婚架面业假家院职证])")
"""Verb and object of one word, with something between them: 分的手."""
_MANY = re.compile(
    r"几(?:个(?!字|月|小时|钟头|星期|礼拜|季)|位|种|只|条|本|家|款|样|名|次|场|件)|哪(?:些|几)"
    r"|多少(?:个|位|种|人|次|场)|所有|全部|[一总]共(?!.{0,9}(?:多[长久]|几[年天]))|都(?:有|叫)[什谁啥]|有(?:什么|哪些|啥)(?:安排|计划|打算|活动|事)"
    r"|\b(?:got on\b|how many|all (?:the|of|my|our|his|her|their)|list\b|in total"
    r"|(?:what|which) (?:(?:kind|type|sort)s? of )?(?:\w+ )?(?!(?:does|this|was|his)\b)"
    r"[a-z]{2,}[a-rt-z]s (?:has|have|do|does|did|are|were|is|was|can)\b)",
    re.IGNORECASE,
)
"""Asks for all things of a kind; not for a length of time or of a word."""
_SENTENCE = re.compile(r"[^。！？!?.；;\n]*[。！？!?.；;\n]*")
_FIRST_PERSON = re.compile(r"[我俺咱]|\b(?:i|i'm|me|my|mine|myself|we|our)\b", re.IGNORECASE)
_OWNED = re.compile(
    r"我们?家的?(?![住在])|我的(?!名字|[本真全]名)[^，。？?]{1,6}叫|\bmy \w+['’]s\b", re.IGNORECASE
)
"""Something of the speaker's, of which a name or an age is not theirs."""
_SECOND_PERSON = re.compile(r"[你您]|\b(?:you|you're|your|yours|yourself)\b", re.IGNORECASE)
_FOR_ME = re.compile(
    r"(?:帮|给|替|跟|和|陪|教)我"
    r"|\b(?:tell|give|show|write|sing|send|help|teach|let|make|for|with) (?:me|us)\b",
    re.IGNORECASE,
)
"""What the speaker asks for, not of themselves."""
_RECALLS = re.compile(
    r"[记說说讲答]|告诉|提[过到醒起]|上次|\b(?:remember|recall|told|tell|said|say|mention|promise|last)",
    re.IGNORECASE,
)
"""Asks the other to remember."""
_TABLE = Path(__file__).with_name("question_kinds.txt").read_text("utf-8")
_KINDS = [
    (PREDICATES if head == "*" else head.split(), re.compile("|".join(cues), re.IGNORECASE))
    for head, *cues in (block.splitlines() for block in _TABLE.removeprefix("# ").split("\n\n# "))
]
"""Predicates, and what a question says if it asks for facts of these: a pattern a line."""
_FORMER = re.compile(
    r"以前|之前|从前|原来|原先|原本|本来|曾(?:经|在|是|有|去)|当初|当时|那时|最(?:早|初|开始)|一开始|过去|上一[个份家任]|前(?:任|[男女]友|[男女]朋友|[夫妻])"
    r"|\b(?:before|formerly|previous(?:ly)?|used? to|original(?:ly)?|at first|first|back then|ex"
    r"|(?:did|was|were|had)\b.*\b(?:un)?till?|last (?:job|place|flat|home|boss)|(?<!how )old)\b",
    re.IGNORECASE,
)
"""Asks how it was."""
_REFERS_BACK = re.compile(
    r"^(?:那|那么|然后|还有|他|她|它|这|and|then|what about|how about|he|she|it|they|that)",
    re.IGNORECASE,
)


_SMALL_TALK = re.compile(
    r"(?:早|晚|中午|上午|下午)?(?:上?好|安)|早上?|[您你]好|哈喽|在(?:吗|么|不在)|再见|拜拜"
    r"|(?:明天|晚点|回头)(?:见|聊|说)|[睡困]觉?|(?:周末|节日|新年|生日|圣诞|元旦|春节|假期)(?:愉快|快乐)"
    r"|多?谢谢?|感谢|辛苦|不客气|没事|没关系|对不起|抱歉|加油|恭喜|厉害|棒|不错|可爱|牛[逼批掰]?|6+|\+1"
    r"|大家|各位|(?:群友|兄弟|姐妹|家人|朋友|(?:小伙)?伙伴|同学|同志|宝子|亲)们|欢迎(?:新人|新朋友)?|无语"
    r"|行|可以|收到|明白|知道|了解|等一?[下等]|真的(?:假的|吗)?|考考你|猜猜看?|你猜|离谱|笑死|无聊|滚|闭嘴|(?:今天)?天气"
    r"|[嗯哦噢啊唉诶哎呃哈嘿呵嘻嘛呀啦呢吧哇的了嘞我你真太很]+"
    r"|\b(?:hi|hello|hey|yo|good (?:morning|night|evening|afternoon)|bye"
    r"|see you(?: tomorrow| later)?|everyone|everybody|all|guys|folks|g[mn]|night|morning"
    r"|welcome|sounds good|no (?:worries|problem)"
    r"|thanks?(?: you)?(?: a lot)?|thx|please|sorry|happy new year"
    r"|you(?:['’]re| are) (?:funny|great|the best|welcome)|ok(?:ay)?|yes"
    r"|yeah|yep|sure|got it|nope?|cool|nice(?: one)?|great|lol|lmao"
    r"|(?:ha)+|wow|ugh|brb|seriously|no way|shut up|(?:are you )?there|i['’]?m bored"
    r"|what['’]s the weather like|today)\b",
    re.IGNORECASE,
)
"""What people say to greet, thank, laugh, agree or insult."""

_TASK = re.compile(
    r"^(?:请|帮我|给我|麻烦|能不能|可以|你|再|来)*(?:写|翻译|把.+(?:翻译|改)|讲[个一]|唱|画|推荐|解释|总结|润色|算)"
    r"|怎么(?:做|读|写|用|煮|炒|弄)[？?。]*$|等于(?:几|多少)"
    r"|^(?:(?=.*\d\s?[+*×÷]\s?\d)[\d\s.+\-*/×÷()（）]++$|[\d\s.+\-*/×÷()（）]++[=＝])"
    r"|^(?:(?:please|can you|could you)\s+)*(?:write|translate|tell me an?|sing|draw|recommend"
    r"|explain|summari[sz]e|calculate|define|how (?:do|can) (?:i|you)|what does the word)\b",
    re.IGNORECASE,
)
"""Asks for something that anybody could be given."""


@dataclass(frozen=True, slots=True)
class Subquery:
    """One question of a message.

    Attributes:
        text: What is embedded.
        terms: Weights of its words and characters.
        words: The words, or the only character that says something: only they are evidence.
        many: Whether it asks for all things of a kind.
        former: Whether it asks how it was.
        predicates: Of facts that answer such a question, if it is of a known kind.
    """

    text: str
    terms: Mapping[str, float]
    words: Collection[str]
    many: bool
    former: bool = False
    predicates: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """What the memory is asked: one question or several.

    Attributes:
        said: The message; ``text`` is what to search for.
        parts: See :func:`split`.
        vectors, model: Embedding of each part, where there is one, and the model they are of.
    """

    asker: Asker
    said: str
    text: str
    parts: tuple[Subquery, ...]
    vectors: Sequence[Vectors] = ()
    model: str = ""

    @property
    def is_personal(self) -> bool:
        """Whether the asker speaks of themselves."""
        return is_personal(self.text)

    @property
    def is_of_theirs(self) -> bool:
        """Whether they ask about something they own, not about themselves."""
        return _OWNED.search(self.text) is not None

    @property
    def is_addressed(self) -> bool:
        """Whether they speak of the one they speak to, and of no shared past."""
        to_another = not self.is_personal and _SECOND_PERSON.search(self.text)
        return bool(to_another) and not _RECALLS.search(self.text)


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """Options of one recall.

    Attributes:
        limit: Most memories; 0 for ``retrieval_top_k``.
        budget: Tokens of the block, ``lead`` included; ``None`` for any.
        context: Texts that the language model has in front of it; they are not repeated.
        previous: What was said before, for a message that leans on it.
        exclude: Ids of messages not to show (the one that is being answered).
        brief: Whether only what is nearly as good as the best is added to the first few,
            unless all of a kind is asked for.
        lead: First lines of the block, safe in the fence.
        records: More of them, which stand beside memories only.
        profile: Whether what is known about the asker is preferred.
        message: Id of the message that asks; 0 if it is not stored, ``None`` if it is none.
    """

    limit: int = 0
    budget: int | None = None
    context: Sequence[str] = ()
    previous: str = ""
    exclude: Collection[int] = ()
    brief: bool = False
    lead: Sequence[str] = ()
    records: Sequence[str] = ()
    profile: bool = True
    message: int | None = None


def is_task(text: str) -> bool:
    """Whether a text asks for something that anybody could be given."""
    return _TASK.search(text.strip()) is not None


def is_small_talk(text: str) -> bool:
    """Whether nothing is left of a text without what people say to be polite, or rude."""
    return len(text) <= BRIEF and not any(map(str.isalnum, _SMALL_TALK.sub("", text)))


def asks(text: str) -> bool:
    return bool(_ASKS.search(simplified(text)))


def asks_who(text: str) -> bool:
    """Whether a question is for somebody."""
    return _WHO.search(simplified(text)) is not None


def may_ask(text: str) -> bool:
    """Whether a text is a question, or may be one that is not marked as such."""
    plain = simplified(text)
    return bool(_ASKS.search(plain) or _WONDERS.search(plain))


def recalls(text: str) -> bool:
    """Whether a question is about what was said."""
    return _RECALLS.search(text) is not None


def is_personal(text: str) -> bool:
    """Whether the speaker speaks of themselves."""
    return bool(_FIRST_PERSON.search(_FOR_ME.sub("", text)))


def first_person(text: str, names: Collection[str]) -> str:
    """A question about people with some names, as they would speak of themselves.

    What they say has no name in it, and a name is most of what two short texts have in common.
    """
    if is_personal(text):
        return text
    words = {each for name in names for each in (name, name.split(" ")[0]) if len(each) > 1}
    said = text.casefold()
    words = {each for each in words if each.casefold() in said}  # a thousand may begin alike
    me, my = ("我", "我的") if is_chinese(text) else ("I", "my")
    for word in sorted(words, key=len, reverse=True):
        named = rf"(?<![a-z]){re.escape(word)}(?P<own>['’]s)?(?![a-z])"
        text = re.sub(named, lambda found: my if found["own"] else me, text, flags=re.IGNORECASE)
    return text


def compose(text: str, previous: str = "") -> str:
    """What to search for: a message, after the turn before if it leans on it.

    Without secrets: it goes to the provider of embeddings.
    """
    text = clean(redacted(text[: 2 * MAX_QUERY]), MAX_QUERY)
    leans = len(terms(text)) <= FEW or bool(_REFERS_BACK.match(text))
    if not (previous and leans):
        return text
    return f"{clean(redacted(previous[:MAX_QUERY]), MAX_QUERY // 4)}\n{text}"


def split(text: str) -> tuple[Subquery, ...]:
    """The questions in a message, which are searched for separately.

    What is said around a question counts little; what came before the point ("wait, what I
    wanted to ask is") not at all.
    """
    parts: list[Subquery] = []
    text = _PARTED.sub(r"\1\2", text)
    for topic in _TOPIC.split(text):
        parts += _questions(topic)
    if not parts or len(parts) > MAX_PARTS:
        return (_part(text, ""),)
    return tuple(parts)


def telling(text: str) -> float:
    """Share of a text, 0…1, that is neither small talk nor in its questions."""
    if is_small_talk(text) or only_asks(text):
        return 0.0
    if "?" not in text and "？" not in text:
        return 1.0
    asked = sum(len(found) for found in _SENTENCE.findall(text) if found.endswith(("?", "？")))
    return 1 - asked / len(text)


def only_asks(text: str) -> bool:
    """Whether a text says nothing but what somebody wants to know or have done."""
    sentences = (found.strip() for found in _SENTENCE.findall(text) if terms(found))
    first = next(sentences, "")
    return bool(first) and _is_asking(first) and all(map(_is_asking, sentences))


def _is_asking(sentence: str) -> bool:
    if sentence.endswith(("?", "？")) or is_task(sentence):
        return True
    clauses = _CLAUSE.split(sentence) if len(sentence) <= BRIEF else ()
    return bool(clauses) and all(
        _UNMARKED.search(simplified(s.strip())) or is_small_talk(s) for s in clauses
    )


def _questions(topic: str) -> list[Subquery]:
    point = _to_the_point(topic)
    sentences = [found for found in _BORDER.split(point) if len(set(terms(found))) > 1]
    asked = [sentence for sentence in sentences if asks(sentence)]
    if not asked:
        return [_part(point, "")] if sentences else []
    around = " ".join(sentence for sentence in sentences if sentence not in asked)
    return [_part(sentence, around) for sentence in asked]


def _to_the_point(topic: str) -> str:
    """What follows the last turn after which something is asked."""
    for turn in reversed(list(_TURN.finditer(topic))[-MAX_TURNS:]):
        rest = _LEADING.sub("", topic[turn.end() :])
        if asks(rest) and len(set(terms(rest))) > 1:
            return rest
    return topic


def _part(text: str, around: str) -> Subquery:
    weights: dict[str, float] = {}
    for term in search_terms(without_times(text)):
        weights[term] = weights.get(term, 0.0) + 1.0
    for term in (*search_terms(text), *search_terms(around)):
        weights.setdefault(term, MINOR)
    lone = telling_characters(text.replace("哪儿", "哪"))
    is_own = is_personal(text) and asks(text)  # 我住哪, not 你会做什么
    said = (*weights, *(lone if len(lone) == 1 and is_own else ()))
    for character in telling_characters(text):
        weights[character] = weights.get(character, 0.0) + 0.5
    for word in (other for found in kin_in(normalise(text)) for other in same_kin(found)):
        for term in search_terms(word if len(word) > 1 else f"我{word}"):
            weights.setdefault(term, 1.0)
    plain = simplified(text)
    predicates, former = predicates_of(text), bool(_FORMER.search(plain))
    clauses = (each for each in _CLAUSE.split(plain) if len(set(terms(each))) > 1)
    many = bool(_MANY.search(plain)) or predicates.issuperset(PREDICATES)
    many = many or sum(map(asks, clauses)) > 1  # 吞的什么 花了几百
    return Subquery(f"{around} {text}".strip(), weights, said, many, former, predicates)


def predicates_of(text: str) -> frozenset[str]:
    """Predicates of the facts that a question asks for, if it is of a known kind."""
    plain = simplified(text)
    return frozenset(chain(*(each for each, cues in _KINDS if cues.search(plain))))
