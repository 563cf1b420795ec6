"""Answers as models give them on bad days; the conversation itself is plain."""

import json

from .stage import NOTHING, Ask, Expected, Scene, Shown, Sitting, fact, save, thing

# fmt: off

LIKES_TEA = fact("U1", "likes", "E1", "李雷喜欢喝茶", "1")
TEA = thing("E1", "茶", "thing")
GOOD = save(LIKES_TEA, TEA, summary="李雷说他喜欢喝茶")
AS_TEXT = json.dumps(GOOD, ensure_ascii=False)
LIKED = Expected("李雷", "likes", "茶", ("喝茶",), uses=1)


def scene(name: str, title: str, *answers: object, waiting: int = 0,
          facts: tuple[Expected, ...] = (LIKED,), never: tuple[str, ...] = (),
          nobody: tuple[str, ...] = (), line: str = "我喜欢喝茶") -> Scene:
    """李雷 says one thing and the bot answers; a flush later, the model is asked again
    for every further answer."""
    sittings = [
        Sitting("2026-03-02 20:00", (f"李雷: {line}", "BOT: 李雷喜欢喝茶，还养了一条龙，记下了"),
                answers[:1])
    ]
    sittings += [
        Sitting(f"2026-03-0{day} 20:00", ("李雷: 😀",), (answer,))
        for day, answer in enumerate(answers[1:], 3)
    ]  # fmt: skip
    return Scene(name, title, tuple(sittings), facts, never, nobody, waiting=waiting, live=False)


SCENES = (
    scene(
        "zh-truncated",
        "JSON 写到一半断了：完整的那条留下",
        AS_TEXT[: AS_TEXT.index("importance")] + 'importance": 0.6, "evidence": "1"}, '
        '{"subject": "U1", "predicate": "has_pet", "object": "龙", "statement": "李雷养了一',
        nobody=("龙",),
        facts=(Expected("李雷", "likes", "", ("喝茶",)),),
    ),
    scene(
        "zh-talk-around",
        "JSON 前后有话，还有围栏",
        f"好的，我来整理记忆：\n```json\n{AS_TEXT}\n```\n以上就是全部内容，如需修改请告诉我！",
    ),
    scene(
        "zh-thinking-aloud",
        "先想一大段，想的时候也用了花括号",
        f"<think>他说了喜欢喝茶，格式应为 {{worth, facts}}，对吧。</think>\n{AS_TEXT}",
    ),
    scene(
        "zh-wrong-types",
        "类型全错：数字成字，字成数组",
        {
            "worth": "是", "summary": ["李雷说他喜欢喝茶"],
            "entities": {"id": "E1", "name": ["茶"], "type": "饮料", "aliases": None},
            "facts": [
                {**LIKES_TEA, "evidence": ["[1]"], "importance": "很高", "past": "否",
                 "replaces": {"a": 1}},
                "李雷养了一条龙", None, 7, ["李雷"],
                {**LIKES_TEA, "statement": 12345, "subject": None},
            ],
            "restated": True, "used": "无", "ended": -3,
        },
        never=("龙",),
    ),
    scene(
        "zh-invented-labels",
        "编造的编号：没有这个人就不记",
        save(LIKES_TEA, TEA,
             fact("U9", "likes", "E1", "韩梅梅喜欢喝茶", "1"),
             fact("E77", "lives_in", "E78", "他们住在火星", "1"),
             replaces=("9",), restated="88", ended="E5, 3000"),
        never=("韩梅梅", "火星"), nobody=("E77", "U9", "韩梅梅"),
    ),
    scene(
        "zh-invented-evidence",
        "依据的消息不存在",
        save(LIKES_TEA, TEA,
             fact("U1", "likes", "酒", "李雷喜欢喝酒", "12"),
             fact("U1", "likes", "可乐", "李雷喜欢喝可乐", "0, -1, 1000000"),
             fact("U1", "likes", "水", "李雷喜欢喝水", "")),
        never=("喝酒", "可乐", "喝水"),
    ),
    scene(
        "zh-only-the-bots-word",
        "依据只有机器人的话",
        save(LIKES_TEA, TEA,
             fact("U1", "has_pet", "龙", "李雷养了一条龙", "2"),
             fact("BOT", "likes", "龙", "BOT喜欢龙", "2")),
        never=("龙",), nobody=("龙",),
    ),
    scene(
        "zh-extra-keys",
        "多余的键不碍事",
        {**GOOD, "thoughts": "嗯", "confidence": 0.99, "version": {"v": 2},
         "facts": [{**LIKES_TEA, "id": "f:1", "session": "别人的", "speaker": "bot",
                    "pinned": True, "status": "archived", "said_at": 0}]},
    ),
    scene("zh-a-list", "不是对象而是一列事实", json.dumps([{**LIKES_TEA, "object": "茶"}])),
    scene(
        "zh-wrapped",
        "包了一层又一层",
        {"name": "save_memory", "arguments": {"result": AS_TEXT}},
    ),
    scene(
        "zh-empty-then-right",
        "空答案：等着，下次再问就学会了",
        "", GOOD,
    ),
    scene("zh-refusal", "拒绝：批次等着，不丢", "抱歉，作为一个AI语言模型，我无法保存个人信息。",
          waiting=1, facts=()),
    scene("zh-model-down-then-right", "模型断了一次", None, GOOD),
    scene(
        "zh-huge",
        "两千条：只取前面的",
        save(LIKES_TEA, TEA,
             *(fact("U1", "other", "茶", f"李雷喝了第{n}杯茶" + "很多" * 100, "1")
               for n in range(2_000)),
             summary="茶" * 100_000),
        facts=(LIKED, *(Expected("李雷", "other", "", (f"第{n}杯茶",)) for n in range(39))),
    ),
    scene(
        "zh-unknown-predicate",
        "没有的关系归入 other，没有对象就用句子",
        save(fact("U1", "老家在", "", "李雷的老家在大理", "1")),
        facts=(Expected("李雷", "other", "", ("大理",)),), line="我老家在大理",
    ),
    scene(
        "zh-the-user",
        "“用户”不是谁",
        save(fact("用户", "likes", "E1", "用户喜欢喝茶", "1"),
             fact("User", "likes", "E1", "User likes tea", "1"), LIKES_TEA,
             TEA, thing("E2", "用户", "person"), thing("E3", "我", "person")),
        never=("用户", "User"),
    ),
    scene(
        "en-refusal-then-nothing",
        "A refusal in prose is tried again; nothing worth is an answer, too",
        "I'm sorry, but I can't help with storing personal data.", NOTHING,
        facts=(), line="I like tea", never=("tea", "dragon"),
    ),
    Scene(
        "en-marks-of-facts-never-shown",
        "Numbers of known facts that were never shown change nothing",
        (
            Sitting("2026-03-02 20:00", ("Ann: I play the cello",),
                    (save(fact("U1", "skilled_in", "E1", "Ann plays the cello", "1"),
                          thing("E1", "cello", "thing")),)),
            Sitting("2026-03-03 20:00", ("Ann: practised the cello all day",),
                    (save(restated="7", ended="2, 99999999999999999999", used=Shown("cello")),)),
        ),
        (Expected("Ann", "skilled_in", "cello", ("cello",), uses=1),),
        asks=(Ask("Ann", "What do I play?", gets=("cello",)),),
        live=False,
    ),
)
