"""What people said: the story that the web UI's tests (and its screenshots) are about.

One line for each fact, as in the journal it comes from; the last talk is hostile.
"""
# ruff: noqa: E501

from collections.abc import Iterator
from dataclasses import dataclass, field

from graph_memory.model import BOT, Session, session_of

ZHANG, LI, HONG, MING = "aiocqhttp:10001", "aiocqhttp:10002", "aiocqhttp:10003", "telegram:42"
MALLORY = "aiocqhttp:666"

XSS = (
    "<img src=x onerror=alert(1)>",
    "\"><script>alert('persona')</script>",
    "'-alert(2)-'<svg onload=alert(2)>",
    "</script><script>alert(3)</script>",
    "javascript:alert(4)//{{7*7}}${7*7}",
    "</title><iframe srcdoc='<script>alert(5)</script>'>",
    "]]><style>*{display:none}</style><math><mi xlink:href=javascript:alert(6)>x",
)
"""Text that would run if any page forgot to escape it."""

NICKNAMES = {ZHANG: "张三", LI: "李四", HONG: "小红", MING: "王小明", MALLORY: XSS[0]}


@dataclass(frozen=True, slots=True)
class Said:
    """One fact and the line it comes from.

    Attributes:
        object: A user id, or ``type/name`` of an entity.
        days: How long ago it was said.
        replaces: Statement of the fact it replaces.
    """

    subject: str
    predicate: str
    object: str
    statement: str
    days: float
    importance: float = 0.5
    line: str = ""
    speaker: str = ""
    times: int = 1
    replaces: str = ""
    ended: float | None = None
    pinned: bool = False
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """A session and what was learned in it."""

    session: Session
    said: list[Said] = field(default_factory=list)
    summary: str = "聊了近况"


# fmt: off
def talks() -> Iterator[Talk]:
    """All conversations of the story, in the order in which they are stored."""
    chat = session_of("aiocqhttp", "", "10001", "tech_assistant")
    yield Talk(
        chat,
        [
            Said(ZHANG, "lives_in", "place/北京", "张三住在北京", 400, 0.6, "我在北京上班，租在望京"),
            Said(ZHANG, "lives_in", "place/上海", "张三住在上海，今年春天刚搬过去", 20, 0.7, "我搬到上海啦，住在徐汇", replaces="张三住在北京"),
            Said(ZHANG, "works_as", "topic/后端工程师", "张三是一名后端工程师", 380, 0.7, "我做后端开发"),
            Said(ZHANG, "skilled_in", "topic/Python", "张三写了八年 Python", 200, 0.6, "Python 我写了八年了", times=5),
            Said(ZHANG, "skilled_in", "topic/Docker", "张三熟悉 Docker 和容器编排", 150, 0.5, times=3),
            Said(ZHANG, "plans", "topic/微服务", "张三打算把公司的单体应用拆成微服务", 45, 0.6, "下个季度想把单体拆成微服务"),
            Said("topic/微服务", "other", "topic/Docker", "微服务的每个部分都用 Docker 打包", 45, 0.4),
            Said("topic/Python", "other", "work/FastAPI", "FastAPI 是张三最常用的 Python 框架", 44, 0.4),
            Said(ZHANG, "works_at", "organization/星河科技", "张三在星河科技上班", 180, 0.6),
            Said(ZHANG, "dislikes", "topic/加班", "张三讨厌周末加班", 30, 0.4, "又加班，烦死了"),
            Said(ZHANG, "owns", "thing/机械键盘", "张三有一把静电容机械键盘", 90, 0.3),
            Said(ZHANG, "believes", "topic/代码评审", "张三认为代码评审比测试更能发现设计问题", 60, 0.4),
            Said("bot", "promised", "work/FastAPI", "机器人答应下次带一个 FastAPI 的示例项目", 3, 0.8, "好的，下次给你带一个示例项目", speaker=BOT),
            Said(ZHANG, "status", "event/项目上线", "张三这周在准备项目上线，压力很大", 2, 0.5, "这周要上线，快熬不住了"),
            Said(ZHANG, "is_named", "person/老张", "张三也叫老张", 300, 0.5),
            Said(ZHANG, "did", "event/PyCon", "张三去年在 PyCon 做过分享", 250, 0.5),
        ],
    )
    yield Talk(
        session_of("aiocqhttp", "", "10001", "life_advisor"),
        [
            Said(ZHANG, "habit", "topic/瑜伽", "张三每周三晚上练瑜伽", 25, 0.5, "周三晚上我去练瑜伽", times=4),
            Said(ZHANG, "likes", "topic/冥想", "张三喜欢睡前冥想十分钟", 15, 0.5, "睡前冥想真的有用"),
            Said(ZHANG, "allergic_to", "thing/花生", "张三对花生严重过敏", 500, 1.0, "我对花生过敏，吃了会喘", times=3, pinned=True),
            Said(ZHANG, "has_pet", "animal/年糕", "张三养了一只叫年糕的橘猫", 120, 0.8, "我家橘猫叫年糕", times=6),
            Said("animal/年糕", "likes", "thing/冻干", "年糕喜欢吃鸡肉冻干", 60, 0.3),
            Said("animal/年糕", "health", "topic/体重", "年糕有点超重，医生让它减肥", 12, 0.5),
            Said(ZHANG, "partner", "person/小雨", "张三的女朋友是小雨", 300, 0.9, times=4),
            Said("person/小雨", "lives_in", "place/杭州", "小雨在杭州读研究生", 100, 0.5),
            Said(ZHANG, "family", "person/张妈妈", "张三的妈妈住在成都", 210, 0.6),
            Said("person/张妈妈", "likes", "topic/广场舞", "张三的妈妈喜欢跳广场舞", 205, 0.3),
            Said(ZHANG, "birthday", "event/生日", "张三的生日是 3 月 14 日", 330, 0.9),
            Said(ZHANG, "feels", "topic/睡眠", "张三最近睡得不好，常常三点才睡着", 4, 0.6, "昨晚又是三点才睡着"),
            Said(ZHANG, "likes", "thing/辣", "张三很爱吃辣", 420, 0.5, ended=40),
            Said(ZHANG, "dislikes", "thing/辣", "张三肠胃不好，现在不吃辣了", 40, 0.6, "医生不让我吃辣了", replaces="张三很爱吃辣"),
            Said(ZHANG, "plans", "place/云南", "张三打算国庆和小雨去云南旅行", 18, 0.5),
            Said(ZHANG, "habit", "thing/咖啡", "张三每天早上要喝一杯美式咖啡", 320, 0.1, archived=True),
        ],
    )
    yield Talk(
        session_of("aiocqhttp", "88001", "10002", "tech_assistant", title="周末爬山小队"),
        [
            Said(LI, "likes", "topic/爬山", "李四喜欢爬山，每个月至少去一次", 50, 0.6, "这周末谁去爬山？", times=3),
            Said(HONG, "likes", "topic/摄影", "小红爬山时总带着相机", 48, 0.5, "我负责拍照"),
            Said(HONG, "owns", "thing/富士相机", "小红有一台富士相机", 47, 0.4),
            Said(ZHANG, "friend_of", LI, "张三和李四是大学同学", 260, 0.7, "我和李四大学就认识", speaker=ZHANG),
            Said(LI, "friend_of", HONG, "李四和小红是同事", 46, 0.5),
            Said(LI, "plans", "place/黄山", "李四提议十一月去黄山看日出", 9, 0.6, "十一月去黄山看日出吧"),
            Said(HONG, "plans", "place/黄山", "小红也想去黄山，要先请年假", 8, 0.5, "我得先请年假"),
            Said("place/黄山", "other", "topic/日出", "黄山光明顶是看日出的好地方", 8, 0.4, speaker=LI),
            Said(LI, "health", "topic/膝盖", "李四膝盖有旧伤，下山要用登山杖", 46, 0.7, "我膝盖不行，得带登山杖"),
            Said(LI, "owns", "thing/登山杖", "李四买了一对碳纤维登山杖", 30, 0.3),
            Said(HONG, "works_at", "organization/晨光设计", "小红在晨光设计做平面设计师", 140, 0.5),
            Said(HONG, "works_as", "topic/平面设计师", "小红是平面设计师", 140, 0.6),
            Said(LI, "works_at", "organization/晨光设计", "李四在晨光设计做项目经理", 139, 0.5),
            Said("organization/晨光设计", "other", "place/静安区", "晨光设计的办公室在静安区", 100, 0.3, speaker=LI),
            Said(LI, "age", "topic/三十岁", "李四今年三十岁", 200, 0.4),
            Said(HONG, "from", "place/苏州", "小红是苏州人", 190, 0.6),
        ],
    )
    yield Talk(
        session_of("telegram", "", "42", "[%None]"),
        [
            Said(MING, "studies", "topic/日语", "王小明在自学日语，已经考过 N3", 70, 0.5, "我 N3 过了！"),
            Said(MING, "likes", "work/《三体》", "王小明读了三遍《三体》", 160, 0.4, times=2),
            Said(MING, "plans", "place/京都", "王小明明年春天想去京都看樱花", 33, 0.5),
            Said(MING, "lives_in", "place/广州", "王小明住在广州", 220, 0.6),
            Said("work/《三体》", "other", "person/刘慈欣", "《三体》的作者是刘慈欣", 160, 0.3),
            Said(MING, "has_pet", "animal/豆豆", "王小明养了一只柴犬叫豆豆", 90, 0.6, "豆豆今天拆家了"),
        ],
    )
    hostile = session_of("aiocqhttp", "99<b>9", "666", XSS[1], title=XSS[2])
    yield Talk(
        hostile,
        [
            Said(MALLORY, "is_named", f"person/{XSS[3]}", XSS[3], 6, 0.5, XSS[0]),
            Said(MALLORY, "likes", f"thing/{XSS[4]}", f"喜欢 {XSS[4]}", 6, 0.5, XSS[4]),
            Said(f"thing/{XSS[4]}", "other", f"work/{XSS[5]}", XSS[5], 5, 0.4, XSS[5]),
            Said(MALLORY, "believes", f"topic/{XSS[6]}", XSS[6], 5, 0.4, XSS[6]),
            Said(MALLORY, "friend_of", ZHANG, f"{XSS[0]} 和张三是朋友", 4, 0.4, XSS[3]),
            Said(MALLORY, "other", "topic/很长的话", "一" * 300 + "abc" * 100, 4, 0.2),
        ],
        f"{XSS[3]} {XSS[5]}",
    )
