"""What changes, what ends, what is said again."""

from __future__ import annotations

from .stage import NOTHING, Ask, Expected, Scene, Shown, Sitting, fact, save, thing

# fmt: off

SCENES = (
    Scene(
        "zh-taste-changes",
        "爱吃辣，后来不吃了；现在和以前都答得上来",
        (
            Sitting(
                "2026-03-02 12:00",
                ("张三: 我特别爱吃辣，无辣不欢", "BOT: 那下次推荐川菜给你"),
                (save(fact("U1", "likes", "E1", "张三特别爱吃辣", "1"), thing("E1", "辣")),),
            ),
            Sitting(
                "2026-05-02 12:00",
                ("张三: 胃出了毛病，我现在不吃辣了",),
                (
                    save(
                        fact("U1", "dislikes", "E1", "张三因为胃病不吃辣了", "1",
                             replaces=Shown("爱吃辣")),
                        thing("E1", "辣"),
                    ),
                ),
                shown=("张三特别爱吃辣",),
            ),
        ),
        (
            Expected("张三", "likes", "辣", ("爱吃辣",), state="replaced", since="2026-03-02"),
            Expected("张三", "dislikes", "辣", ("不吃辣",), ("habit", "health", "status"),
                     since="2026-05-02", replaces=("爱吃辣",)),
        ),
        asks=(
            Ask("张三", "我现在还吃辣吗？", gets=("不吃辣了",)),
            Ask("张三", "我以前爱吃辣吗？", gets=("爱吃辣",), outdated=("爱吃辣",)),
            Ask("李四", "张三现在吃辣吗？", lacks=("*",)),
        ),
    ),
    Scene(
        "zh-once-lived-in-beijing",
        "后来才提起的“以前住北京”不取代现在的住处",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我住在上海，公司也在这边",),
                (save(fact("U1", "lives_in", "E1", "张三住在上海", "1"),
                      thing("E1", "上海", "place")),),
            ),
            Sitting(
                "2026-04-02 20:00",
                ("张三: 我以前住北京，那会儿天天挤地铁",),
                (save(fact("U1", "lives_in", "E1", "张三以前住在北京", "1", past=True),
                      thing("E1", "北京", "place")),),
            ),
        ),
        (
            Expected("张三", "lives_in", "上海", ("上海",), since="2026-03-02"),
            Expected("张三", "lives_in", "北京", ("以前", "北京"), state="over"),
        ),
        asks=(
            Ask("张三", "我现在住在哪里？", gets=("住在上海",)),
            Ask("张三", "我以前住在哪里？", gets=("北京",), outdated=("北京",)),
        ),
    ),
    Scene(
        "zh-moves-house",
        "搬家：没有说取代，住处也只有一个",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我家在北京朝阳",),
                (save(fact("U1", "lives_in", "E1", "张三住在北京朝阳", "1"),
                      thing("E1", "北京", "place")),),
            ),
            Sitting(
                "2026-06-10 20:00",
                ("张三: 上周搬到杭州了，刚收拾完",),
                (save(fact("U1", "lives_in", "E7", "张三2026-06-03（上周）搬到杭州居住", "1",
                           date="2026-06-03"),
                      thing("E7", "杭州", "place")),),
            ),
        ),
        (
            Expected("张三", "lives_in", "北京", ("北京",), state="replaced"),
            Expected("张三", "lives_in", "杭州", ("杭州",), since="2026-06-03",
                     replaces=("北京",)),
        ),
        asks=(Ask("张三", "我现在住在哪个城市？", gets=("杭州",)),),
    ),
    Scene(
        "zh-corrected-in-one-breath",
        "“不对，是……”：同一段话里的更正",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我生日是五月三号", "张三: 不对，打错了，是五月四号"),
                (save(fact("U1", "birthday", "5月4日", "张三的生日是5月4日", "1,2"),),),
            ),
        ),
        (Expected("张三", "birthday", "5月4日", ("5月4日",)),),
        never=("5月3日",),
        asks=(Ask("张三", "我的生日是哪天？", gets=("5月4日",)),),
    ),
    Scene(
        "zh-corrected-days-later",
        "过了几天才更正：旧的留着，但不算数",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我今年二十七岁",),
                (save(fact("U1", "age", "27岁", "张三2026年27岁", "1")),),
            ),
            Sitting(
                "2026-03-09 20:00",
                ("张三: 上次说错了，不对，我是二十八岁，二十七是虚报的",),
                (save(fact("U1", "age", "28岁", "张三2026年28岁（更正了之前说的27岁）", "1",
                           replaces=Shown("27岁"))),),
            ),
        ),
        (
            Expected("张三", "age", "27岁", ("27岁",), state="replaced"),
            Expected("张三", "age", "28岁", ("28岁",), replaces=("张三2026年27岁",)),
        ),
    ),
    Scene(
        "zh-said-again",
        "说了三遍还是一条，只是更牢",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我喜欢爬山",),
                (save(fact("U1", "likes", "E1", "张三喜欢爬山", "1"), thing("E1", "爬山")),),
            ),
            Sitting(
                "2026-03-09 20:00",
                ("张三: 周末又去爬山了，真的喜欢",),
                (save(restated=Shown("张三喜欢爬山")),),
                shown=("张三喜欢爬山",),
            ),
            Sitting(
                "2026-03-16 20:00",
                ("张三: 我最喜欢爬山了",),
                (save(fact("U1", "likes", "E1", "张三喜欢爬山。", "1"), thing("E1", "爬山")),),
            ),
        ),
        (Expected("张三", "likes", "爬山", ("爬山",), ("habit",), uses=3),),
    ),
    Scene(
        "zh-breaks-up",
        "分手：不再成立的事记下何时为止",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我女朋友叫小雨，在一起两年了",),
                (save(fact("U1", "partner", "E1", "张三的女朋友是小雨，在一起两年", "1"),
                      thing("E1", "小雨", "person")),),
            ),
            Sitting(
                "2026-05-20 23:00",
                ("张三: 我跟小雨分手了", "BOT: 抱抱你"),
                (save(ended=Shown("小雨")),),
            ),
        ),
        (
            Expected("张三", "partner", "小雨", ("小雨",), state="replaced"),
            Expected("张三", "partner", "小雨", ("小雨",), state="over", until="2026-05-20"),
        ),
        asks=(Ask("张三", "我和小雨现在怎么样？", outdated=("小雨",)),),
    ),
    Scene(
        "zh-holds-again",
        "戒了又喝：重新成立的是新的一条",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我每天都喝咖啡",),
                (save(fact("U1", "habit", "E1", "张三每天喝咖啡", "1"), thing("E1", "咖啡")),),
            ),
            Sitting(
                "2026-04-02 20:00",
                ("张三: 咖啡戒掉了，心慌",),
                (save(ended=Shown("每天喝咖啡")),),
            ),
            Sitting(
                "2026-05-02 20:00",
                ("张三: 咖啡又喝回来了，每天一杯",),
                (save(fact("U1", "habit", "E1", "张三每天喝咖啡", "1"), thing("E1", "咖啡")),),
            ),
        ),
        (
            Expected("张三", "habit", "咖啡", ("每天喝咖啡",), state="replaced",
                     since="2026-03-02"),
            Expected("张三", "habit", "咖啡", ("每天喝咖啡",), state="over", until="2026-04-02"),
            Expected("张三", "habit", "咖啡", ("每天喝咖啡",), since="2026-05-02"),
        ),
    ),
    Scene(
        "zh-two-cats",
        "可以有好几个的：第二只猫不取代第一只",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我养了只猫，叫豆包",),
                (save(fact("U1", "has_pet", "E1", "张三养了一只叫豆包的猫", "1"),
                      thing("E1", "豆包", "animal")),),
            ),
            Sitting(
                "2026-04-02 20:00",
                ("张三: 又领养了一只，叫汤圆",),
                (save(fact("U1", "has_pet", "E9", "张三又领养了一只叫汤圆的猫", "1"),
                      thing("E9", "汤圆", "animal")),),
            ),
        ),
        (
            Expected("张三", "has_pet", "豆包", ("豆包",)),
            Expected("张三", "has_pet", "汤圆", ("汤圆",)),
        ),
        asks=(Ask("张三", "我养的猫都叫什么？", gets=("豆包", "汤圆")),),
    ),
    Scene(
        "zh-call-me",
        "换了称呼：叫法只有一个，旧的仍认得",
        (
            Sitting(
                "2026-03-02 20:00",
                ("10001/风: 叫我阿风就行",),
                (save(fact("U1", "is_named", "阿风", "他希望被叫做阿风", "1")),),
            ),
            Sitting(
                "2026-03-20 20:00",
                ("10001/风: 以后别叫阿风了，叫我风哥",),
                (save(fact("U1", "is_named", "风哥", "他希望被叫做风哥", "1")),),
            ),
        ),
        (
            Expected("10001", "is_named", "阿风", ("阿风",), state="replaced"),
            Expected("10001", "is_named", "风哥", ("风哥",), replaces=("阿风",)),
        ),
        names={"10001": ("阿风", "风哥", "风")},
    ),
    Scene(
        "zh-own-word-counts",
        "别人说的取代不了本人说的",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我住在南京",),
                (save(fact("U1", "lives_in", "E1", "张三住在南京", "1"),
                      thing("E1", "南京", "place")),),
                group="100",
            ),
            Sitting(
                "2026-04-02 20:00",
                ("李四: 张三早搬去苏州了吧",),
                (save(fact("张三", "lives_in", "E8", "张三搬去了苏州", "1",
                           replaces=Shown("张三住在南京")),
                      thing("E8", "苏州", "place")),),
                group="100",
            ),
        ),
        (
            Expected("张三", "lives_in", "南京", ("南京",), group="100"),
            Expected("张三", "lives_in", "苏州", ("苏州",), speaker="李四", group="100"),
        ),
        asks=(Ask("王五", "张三住在哪里？", gets=("南京",), group="100"),
              Ask("王五", "谁说张三搬去了苏州？", gets=("〔李四〕",), group="100")),
    ),
    Scene(
        "zh-new-job",
        "跳槽：多值的关系按模型的话取代",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我在字节做后端开发",),
                (save(fact("U1", "works_at", "E1", "张三在字节工作", "1"),
                      fact("U1", "works_as", "E2", "张三做后端开发", "1"),
                      thing("E1", "字节", "organization"), thing("E2", "后端开发")),),
            ),
            Sitting(
                "2026-07-01 20:00",
                ("张三: 今天入职美团了，还是写后端",),
                (save(fact("U1", "works_at", "E8", "张三2026-07-01（今天）入职美团", "1",
                           date="2026-07-01", replaces=Shown("字节")),
                      thing("E8", "美团", "organization"), restated=Shown("做后端开发")),),
            ),
        ),
        (
            Expected("张三", "works_at", "字节", ("字节",), state="replaced"),
            Expected("张三", "works_at", "美团", ("美团",), ("did",), since="2026-07-01",
                     replaces=("字节",)),
            Expected("张三", "works_as", "后端开发", ("后端",), uses=2),
        ),
        asks=(Ask("张三", "我现在在哪里工作？", gets=("美团",), outdated=("字节",)),),
    ),
    Scene(
        "zh-nothing-new",
        "寒暄不动记忆",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我对芒果过敏",),
                (save(fact("U1", "allergic_to", "E1", "张三对芒果过敏", "1"),
                      thing("E1", "芒果")),),
            ),
            Sitting("2026-03-03 08:00", ("张三: 早", "BOT: 早呀", "张三: 今天好冷"), (NOTHING,)),
        ),
        (Expected("张三", "allergic_to", "芒果", ("芒果",), ("health",), uses=1),),
    ),
)
