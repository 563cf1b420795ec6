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
_BY_WORDS = tuple((topic, re.compile(words, re.IGNORECASE)) for topic, words in _WORDED)
_MAY_SAY_SO = frozenset(("dislikes", "habit", "believes", "feels", "status", "other"))
_REQUESTS = (
    (
        Topic.FOOD,
        r"[吃喝餐饭菜食汤粥酒茶饼糕糖饮馋烤炖串煮炒饿渴]|外卖|火锅|甜[品点]|点心|[奶果][茶汁昔]|咖啡|水果|[口风]味|馆子|点单|[夜消]宵|厨"
        r"|\b(?:eat(?:ing)?|food|snacks?|dinner|lunch|breakfast|brunch|supper|cook(?:ing)?|bak(?:e|ing)"
        r"|recipes?|restaurants?|drinks?|coffee|espresso|tea|juice|menu|desserts?|\w*cakes?|pudding|pies?"
        r"|beer|wine|cocktails?|meals?|dish(?:es)?|flavou?rs?|cuisine|buffet|picnic|barbecue|takeaway"
        r"|order(?:ing)?|serve|toast|stew|soup|salad|hungry|thirsty|starving|peckish|craving)\b",
    ),
    (
        Topic.OUTING,
        r"[玩旅逛]|游(?!戏|泳)|爬|徒步|[露宿]营|野餐|温泉|漂流|坐(?!下|着|标)|出[去海门差行发]|行程|路线|攻略|怎么走|景[点区]|度假|自驾"
        r"|民宿|酒店|海边|高铁|飞机|邮轮|乐园|户外|活动|团建|(?:周末|五一|国庆|假期|明天|春节|暑假|寒假).{0,4}[去干到]"
        r"|\b(?:trips?|travel(?:ling)?|hik(?:es?|ing)|camp(?:ing)?|climb(?:ing)?|holidays?|vacation|weekend"
        r"|tours?|route|beach|hostel|hotel|spa|sights|park|boat|coach|cruise|raft(?:ing)?|sail(?:ing)?"
        r"|flights?|fly|(?:go(?:ing)?|head(?:ing|ed)?|get) to|days in|outdoors?|outing|picnic)\b",
    ),
    (
        Topic.SPORT,
        r"运动|锻炼|健身|跑步|训练|动一?动|练|潜水|学?游泳|瑜伽|器械|减[肥重脂]|[长变]?胖了|体力|扛|滑雪|蹦极|漂流|马拉松"
        r"|\b(?:exercises?|work(?:ing)? ?out|gym|sports?|fit(?:ness)?|in shape"
        r"|(?:lose|put on) weight|get(?:ting)? (?:moving|active)|jog(?:ging)?|yoga|raft(?:ing)?"
        r"|surf(?:ing)?|marathon|diving|swim(?:ming)?|train(?:ing)?"
        r"|ski(?:ing)?|climb(?:ing)?|hik(?:e|ing)|lift(?:ing)?)\b",
    ),
    (
        Topic.MEDICINE,
        r"药|疼|痛|感冒|[发退]烧|咳嗽|嗓子|消炎|打针|疫苗|拉肚子|不舒服|医院|染发|染个头发"
        r"|\b(?:medicines?|medication|pills?|throat|hurts?|pain\w*|sore|\w*ache|fever|cough|antibiotics?"
        r"|cold|flu|ill|doctor|dentist|pharmacy|vaccine)\b",
    ),
    (
        Topic.VISIT,
        r"做客|拜访|聚[会餐]|请.{0,3}客|招待|朋友的?(?:家|农场)|送.{0,4}什么|礼物"
        r"|\b(?:party|guests?|visit(?:ing)?|host|gift|presents?|friend's)\b",
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
    r"番|剧|保险|车险|几号线|几点|地铁|开抢|期货|股|邮件|请假|费怎么|名字|颜色|电影|综艺|小说|本书|首歌|笑话|故事|翻译|[英日法]语|英文|怎么[说读写]|描写|口号|谁|来历|来着|[去订吃玩]了|过[什哪]|那[次天年阵]|爱[吃喝]|什么时候|哪[天年]"
    r"|昨[天晚]|上[次周]|多[高快远大]|有?多少|什么时候|发[明现]|世界|历史|化学|[代编]码|投屏|PPT"
    r"|^who\b|\b(?:translate|spell|jokes?|novel|songs?|series|movie|film|watching|yesterday"
    r"|last (?:night|week)|how (?:many|much|tall|fast|far|old|long)|when|did|was|were|had|still"
    r"|insurance|bills?|shares|e-?mail|sick note|name for|colou?r|crime|which line|tickets go"
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
