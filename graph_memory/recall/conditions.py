"""Conditions: what somebody cannot or will not do, and requests that it bears on.

Allergies, diets, illness, fears and beliefs matter to a meal or a trip though nobody asks
about them. A condition is told by its words; a request by being more like requests than like
what only looks so in meaning, or by its words as well where its meaning is unknown.
"""

from __future__ import annotations

import re
from enum import IntFlag

from ..model import Fact
from .examples import EXAMPLES, MARGIN, Likeness, Rows, nearness, rows


class Topic(IntFlag):
    """What a request is about, or a condition bears on."""

    NONE = 0
    FOOD = 1
    OUTING = 2
    SPORT = 4
    MEDICINE = 8
    VISIT = 16


_DIET = Topic.FOOD | Topic.OUTING | Topic.VISIT
_BODY = Topic.FOOD | Topic.OUTING | Topic.SPORT | Topic.MEDICINE
_FEAR = Topic.OUTING | Topic.SPORT | Topic.VISIT
_STATED = {"allergic_to": _DIET | Topic.MEDICINE, "health": _BODY}
"""By predicate."""
_WORDED = (
    (
        _DIET,
        r"过敏|忌口|吃[素斋]|素食|清真|戒[酒糖]|不(?:能|可以|碰|敢|再)?[吃喝]|乳糖|信(?:佛|教|伊斯兰|基督)"
        r"|\ballerg|\bvegan|\bvegetarian|\bhalal\b|\bkosher\b|\bintoleran|\bteetotal|\bmuslim\b|\bjewish\b"
        r"|(?:\b(?:not|never|cannot|stopped|quit)|n['’]t)\b(?: \w+)? (?:eat|drink)(?:ing)?\b"
        r"|\b(?:can['’]t|cannot) stand\b",
    ),
    (_BODY, r"怀孕|哮喘|血压|糖尿|痛风|手术|心脏|\bpregnan|\basthma|\bdiabet|\bsurgery\b|\bsick\b"),
    (
        _FEAR,
        r"恐[高水]|怕[^麻]|晕[车船机]|不(?:会|敢|能)(?:游泳|开车|骑|坐)"
        r"|\bafraid\b|\bfears?\b|\bphobi|\b(?:car|sea|air)sick"
        r"|(?:\b(?:not|cannot)|n['’]t) (?:swim|drive|fly)\b",
    ),
)


def _asking_for(topics: Topic) -> Rows:
    """Examples of requests on one of some topics."""
    names = {str(topic.name).casefold() for topic in topics}
    return rows(lambda kind: not names.isdisjoint(kind.split()))


_ANY, _NONE = _asking_for(Topic(sum(Topic))), rows(lambda kind: kind == "none")
_ROWS = {topic: _asking_for(topic) for topic in Topic}
_BY_WORDS = tuple((topic, re.compile(words, re.IGNORECASE)) for topic, words in _WORDED)
_MAY_SAY_SO = frozenset(("dislikes", "habit", "believes", "feels", "status", "other"))
_REQUESTS = (
    (
        Topic.FOOD,
        r"[吃喝餐饭菜食汤粥酒茶饼糕糖饮馋烤炖串煮炒饿渴]|外卖|甜[品点]|咖啡|水果|馆子|[夜消]宵"
        r"|\b(?:eat(?:ing)?|food|snacks?|dinner|lunch|breakfast|cook(?:ing)?|bak(?:e|ing)|recipes?"
        r"|restaurants?|drinks?|coffee|menu|desserts?|\w*cakes?|beer|wine|\w*shakes?|meals?|dish(?:es)?"
        r"|takeaway|order(?:ing)?|serve|stew|soup|salad|hungry)\b",
    ),
    (
        Topic.OUTING,
        r"[玩旅逛爬]|游(?!戏|泳)|徒步|[露宿]营|野餐|坐(?!下|着|标)|出[去海门差行发]|行程|景[点区]|度假|民宿|酒店|海边|高铁|飞机"
        r"|(?:周末|五一|国庆|假期|明天|春节|暑假|寒假).{0,4}[去干到]"
        r"|\b(?:trips?|travel(?:ling)?|hik(?:es?|ing)|camp(?:ing)?|climb(?:ing)?|holidays?|vacation"
        r"|weekend|tours?|beach|hostel|hotel|sights|park|boat|flights?|days in"
        r"|(?:go(?:ing)?|head(?:ing|ed)?|get) to)\b",
    ),
    (
        Topic.SPORT,
        r"运动|锻炼|健身|跑步|练|潜水|学?游泳|瑜伽|减[肥重脂]|滑雪"
        r"|\b(?:exercises?|work(?:ing)? ?out|gym|sports?|fit(?:ness)?|lose weight|jog(?:ging)?|yoga"
        r"|diving|swim(?:ming)?|train(?:ing)?|climb(?:ing)?|hik(?:e|ing))\b",
    ),
    (
        Topic.MEDICINE,
        r"药|疼|痛|感冒|[发退]烧|咳嗽|嗓子|消炎|打针|疫苗|不舒服|医院"
        r"|\b(?:medicines?|pills?|throat|hurts?|pain\w*|\w*ache|fever|cough|antibiotics?|doctor|vaccine)\b",
    ),
    (
        Topic.VISIT,
        r"做客|拜访|聚[会餐]|请.{0,3}客|招待|朋友的?(?:家|农场)|礼物"
        r"|\b(?:party|guests?|visit(?:ing)?|gift|presents?|friend's)\b",
    ),
)
_ASKED = tuple((topic, re.compile(words, re.IGNORECASE)) for topic, words in _REQUESTS)
_ADVICE = re.compile(
    r"推荐|建议|主意|思路|规划|攻略|[帮给替]我|给个|求|咋|有[啥没]|还是|从哪|备|合适|帮忙|安排|订|列个|想[^起知听]|怎么(?:样|搭配|走|吃|办|挑|选|应付|过)|咋样|如何|适合|值得|可以"
    r"|行[吗不]|要不要|能.{0,10}[吗么？?]|(?P<verb>.)不(?P=verb)|(?:什么|哪.{1,4}|怎么.|啥)好"
    r"|好(?:呢|不好|[？?])|[吃喝点去买带]点?(?:什么|啥|些|哪)|做(?:什么|点)|[选挑]|哪[个种些款家]|要(?:注意|准备|带)|必[吃去玩]|该"
    r"|\b(?:should|could (?:i|we)|can (?:i|we)|recommend|suggest\w*|ideas?|tips?|advice|plan|book"
    r"|pick|choose|go for|help me|make (?:me|a)|give me|looking for|how about|thinking of|i'd like"
    r"|want|where do i start|what's nearby|tonight\?|or \w+ (?:tonight|today)|which|need"
    r"|good|nice|worth|best|nicest|suit|ok|safe|what to|do i bring|prepare"
    r"|keep in mind|going to (?!be))\b",
    re.IGNORECASE,
)
"""Wants advice, or something planned; a mere question does not."""
_NO_ADVICE = re.compile(
    r"番|剧|电影|小说|本书|[首支]歌|笑话|故事|翻译|[英日法]语|怎么[说读写]|描写|口号|名字|谁|来着|[去订吃玩]了|爱[吃喝]|什么时候|哪[天年]"
    r"|昨[天晚]|上[次周]|多[高快远大少]|发[明现]|世界|历史"
    r"|^who\b|\b(?:translate|spell|jokes?|novel|songs?|series|movie|watching|yesterday"
    r"|last (?:night|week)|how (?:many|much|tall|fast|far|old|long)|when|did|was|were|had"
    r"|world|history|slogan|paragraph|slides|brand|write|tell me)\b",
    re.IGNORECASE,
)
"""Of stories, words and the past, in which nobody eats or goes anywhere."""
_ALL = re.compile(
    r"我们|咱们|大家|一起|聚|\b(?:we|us|our|everyone|everybody|together|team)\b", re.IGNORECASE
)


def bears_on(fact: Fact) -> Topic:
    """What requests a fact bears on."""
    topic = _STATED.get(fact.predicate, Topic.NONE)
    if topic or fact.predicate in _MAY_SAY_SO:
        for each, words in _BY_WORDS:
            topic |= each if words.search(fact.statement) else Topic.NONE
    return topic


def requested(text: str, likeness: Likeness | None = None) -> Topic:
    """What a text wants advice on, or to be planned.

    Args:
        likeness: Cosine of its vector with that of each of ``EXAMPLES``; where not all are
            known, the text goes by its words.
    """
    is_advice, is_other = bool(_ADVICE.search(text)), bool(_NO_ADVICE.search(text))
    if likeness is not None and len(likeness) == len(EXAMPLES):
        return _meant(likeness, (is_advice - is_other) * MARGIN / 2)
    topic = Topic.NONE
    if is_advice and not is_other:
        for each, words in _ASKED:
            topic |= each if words.search(text) else Topic.NONE
    return topic


def _meant(likeness: Likeness, cue: float) -> Topic:
    if nearness(likeness, _ANY) - nearness(likeness, _NONE) + cue <= MARGIN:
        return Topic.NONE
    by_topic = {topic: nearness(likeness, _ROWS[topic]) for topic in Topic}
    least = max(by_topic.values()) - 2 * MARGIN
    return Topic(sum(topic for topic, each in by_topic.items() if each >= least))


def includes_all(text: str) -> bool:
    """Whether somebody asks for everybody who is there."""
    return _ALL.search(text) is not None
