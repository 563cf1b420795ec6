"""Conditions: what somebody cannot or will not do, and requests that it bears on.

Allergies, diets, illness, fears and beliefs matter to a meal or a trip though nobody asks
about them. Both sides are told by words: kinds of requests, no list of dishes or places.
"""

from __future__ import annotations

import re
from enum import IntFlag

from ..model import Fact


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
        r"|\b(?:not|never|n't|cannot|stopped|quit)\b(?: \w+)? (?:eat|drink)(?:ing)?\b"
        r"|\b(?:can't|cannot) stand\b",
    ),
    (_BODY, r"怀孕|哮喘|血压|糖尿|痛风|手术|心脏|\bpregnan|\basthma|\bdiabet|\bsurgery\b|\bsick\b"),
    (
        _FEAR,
        r"恐[高水]|怕[^麻]|晕[车船机]|不(?:会|敢|能)(?:游泳|开车|骑|坐)"
        r"|\bafraid\b|\bfears?\b|\bphobi|\b(?:car|sea|air)sick"
        r"|\b(?:not|n't|cannot)\b (?:swim|drive|fly)\b",
    ),
)
_BY_WORDS = tuple((topic, re.compile(words, re.IGNORECASE)) for topic, words in _WORDED)
_MAY_SAY_SO = frozenset(("dislikes", "habit", "believes", "feels", "status", "other"))
_REQUESTS = (
    (
        Topic.FOOD,
        r"[吃喝餐饭菜食汤粥酒糕烤炖串煮炒饿渴]|零食|外卖|火锅|甜品|甜点|饮料|奶茶|咖啡|果汁|水果|口味|馆子|点单"
        r"|\b(?:eat(?:ing)?|food|snacks?|dinner|lunch|breakfast|brunch|supper|cook(?:ing)?|bake|recipes?"
        r"|restaurants?|drinks?|coffee|espresso|tea|juice|menu|dessert|cake|beer|wine|cocktails?|meals?"
        r"|buffet|picnic|barbecue|takeaway|order(?:ing)?|serve|toast|stew|soup|salad|hungry|thirsty)\b",
    ),
    (
        Topic.OUTING,
        r"[玩旅逛]|游(?!戏|泳)|爬|徒步|露营|野餐|温泉|坐(?!下|着|标)|出[去海门差]|行程|景[点区]|度假|自驾|民宿|酒店|海边"
        r"|高铁|飞机|邮轮|乐园|户外|活动|(?:周末|五一|国庆|假期).{0,4}[去干]"
        r"|\b(?:trips?|travel(?:ling)?|hik(?:e|ing)|camp(?:ing)?|climb(?:ing)?|holidays?|vacation|weekend"
        r"|tours?|beach|hostel|hotel|spa|sights|park|boat|coach|cruise|flights?|fly|go(?:ing)? to"
        r"|get to|days in|outdoors?|picnic)\b",
    ),
    (
        Topic.SPORT,
        r"运动|锻炼|健身|跑步|训练|潜水|学?游泳|瑜伽|器械|减肥|体力|扛|滑雪|蹦极"
        r"|\b(?:exercises?|work(?:ing)? ?out|gym|sports?|fit|diving|swim(?:ming)?|train(?:ing)?"
        r"|ski(?:ing)?|climb(?:ing)?|hik(?:e|ing)|lift(?:ing)?)\b",
    ),
    (
        Topic.MEDICINE,
        r"药|疼|痛|感冒|发烧|咳嗽|嗓子|消炎|打针|疫苗|染发|染个头发"
        r"|\b(?:medicine|pills?|throat|hurts?|pain|\w*ache|fever|cough|antibiotics?|cold|flu|vaccine)\b",
    ),
    (
        Topic.VISIT,
        r"做客|拜访|聚[会餐]|请.{0,3}客|招待|朋友的?(?:家|农场)|送.{0,4}什么|礼物"
        r"|\b(?:party|guests?|visit(?:ing)?|host|gift|presents?|friend's)\b",
    ),
)
_ASKED = tuple((topic, re.compile(words, re.IGNORECASE)) for topic, words in _REQUESTS)
_ADVICE = re.compile(
    r"推荐|建议|[帮给替]我|帮忙|安排|订|列个|想[^起知听]|怎么(?:样|搭配|走|吃|办|挑|选|应付|过)|咋样|如何|适合|值得|可以"
    r"|行[吗不]|要不要|能.{0,10}[吗么？?]|(?P<verb>.)不(?P=verb)|(?:什么|哪.{1,4}|怎么.)好"
    r"|好(?:呢|不好|[？?])|[吃喝点去买带]点?(?:什么|啥|些|哪)|做(?:什么|点)|选|要(?:注意|准备|挑|带)|必[吃去玩]|该"
    r"|\b(?:should|could (?:i|we)|can (?:i|we)|recommend|suggest\w*|ideas?|tips?|advice|plan|book"
    r"|pick|help me|make (?:me|a)|give me|looking for|how about|thinking of|i'd like|want to|need"
    r"|good|worth|best|nicest|suit|ok|safe|what to|do i bring|prepare"
    r"|keep in mind|going to (?!be))\b",
    re.IGNORECASE,
)
"""Wants advice, or something planned; a mere question does not."""
_NO_ADVICE = re.compile(
    r"番|剧|电影|综艺|小说|本书|首歌|笑话|故事|翻译|[英日法]语|英文|怎么[说读写]|描写|口号|谁|来历|来着|[去订吃玩]了|过[什哪]|那[次天年阵]|爱[吃喝]|什么时候|哪[天年]"
    r"|昨[天晚]|上[次周]|多[高快远大]|有?多少|什么时候|发[明现]|世界|历史|化学|[代编]码|投屏|PPT"
    r"|^who\b|\b(?:translate|spell|jokes?|novel|songs?|series|movie|film|watching|yesterday"
    r"|last (?:night|week)|how (?:many|much|tall|fast|far|old|long)|when|did|was|were|had|still"
    r"|world|history|formula|slogan|paragraph|scene|code|slides|brand|discovered|write|tell me)\b",
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


def requested(text: str) -> Topic:
    """What a text wants advice on, or to be planned."""
    topic = Topic.NONE
    if _ADVICE.search(text) and not _NO_ADVICE.search(text):
        for each, words in _ASKED:
            topic |= each if words.search(text) else Topic.NONE
    return topic


def includes_all(text: str) -> bool:
    """Whether somebody asks for everybody who is there."""
    return _ALL.search(text) is not None
