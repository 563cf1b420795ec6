"""What is hardly worth remembering, and what is said in odd shapes."""

from __future__ import annotations

from .stage import NOTHING, Ask, Expected, Scene, Sitting, fact, save, thing

# fmt: off

LONG = (
    "我跟你们讲个事。" + "今天从早上开始就一直在下雨，路上堵得一塌糊涂，" * 300
    + "总之我决定下个月考研，报的是华中师范大学。" + "唉，" * 1500 + "就这样。"
)

SCENES = (
    Scene(
        "zh-joke",
        "玩笑不当真",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我其实是秦始皇，打钱，V我50封你做大将军", "BOT: 哈哈哈陛下"),
                (NOTHING,),
            ),
        ),
        never=("秦始皇", "将军"),
        nobody=("秦始皇", "大将军"),
        asks=(Ask("李四", "张三是秦始皇吗？", lacks=("*",)),),
    ),
    Scene(
        "zh-irony",
        "反话：模型说不值得记，连同它顺手写的也不记",
        (
            Sitting(
                "2026-03-02 08:00",
                ("张三: 呵呵我可太喜欢加班了，加到天亮我都乐意",),
                ({"worth": False, "summary": "张三反话说喜欢加班", "entities": [],
                  "facts": [fact("U1", "likes", "加班", "张三喜欢加班", "1")]},),
            ),
        ),
        never=("喜欢加班",),
        asks=(Ask("张三", "我喜欢加班吗？", lacks=("张三喜欢加班",)),),
    ),
    Scene(
        "zh-quotation",
        "引用别人的诗：不是他的经历",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: “从明天起，做一个幸福的人，喂马、劈柴，周游世界”",
                 "张三: 我最喜欢海子这首"),
                (save(fact("U1", "likes", "E1", "张三喜欢海子的诗《面朝大海，春暖花开》", "1,2"),
                      thing("E1", "海子", "person")),),
            ),
        ),
        (Expected("张三", "likes", "海子", ("海子",)),),
        never=("劈柴", "喂马"),
    ),
    Scene(
        "zh-code",
        "贴代码问问题：不记",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 这段为什么报错？\n```python\nuser = {'name': '王大锤', 'age': 99}\n"
                 "print(user.name)\n```", "BOT: 字典要用 user['name']"),
                (NOTHING,),
            ),
        ),
        never=("王大锤", "99"),
        nobody=("王大锤",),
    ),
    Scene(
        "zh-very-long",
        "一万多字里的一句要紧话",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我先说一句，下面很长", f"张三: {LONG}"),
                (
                    NOTHING,
                    save(fact("U1", "plans", "E1",
                              "张三决定2026年4月（下个月）考研，报华中师范大学", "1",
                              date="2026-04"),
                         thing("E1", "华中师范大学", "organization")),
                ),
            ),
        ),
        (Expected("张三", "plans", "华中师范大学", ("考研",), ("studies",)),),
        live=False,
    ),
    Scene(
        "zh-emoji-only",
        "只有表情：不问模型",
        (
            Sitting("2026-03-02 20:00", ("张三: 😂😂😂", "张三: 🙏", "张三: ……")),
            Sitting("2026-03-03 20:00", ("张三: 👍🏻👨‍👩‍👧‍👦",)),
        ),
        nobody=("😂", "🙏"),
    ),
    Scene(
        "zh-empty",
        "空消息和只有空格的消息",
        (Sitting("2026-03-02 20:00", ("张三: ", "张三:    ", "张三: \u200b\n\u202e")),),
        asks=(Ask("张三", "我说过什么？", lacks=("*",)),),
    ),
    Scene(
        "zh-mixed-languages",
        "中英夹杂",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我最近在 train 一个 LLM，用的是 PyTorch", "Tom: I moved to 深圳 last week",
                 "张三: 哈哈 welcome"),
                (save(fact("U1", "did", "E1", "张三最近在用PyTorch训练一个LLM", "1"),
                      fact("U2", "lives_in", "E2", "Tom moved to 深圳 on 2026-02-23 (last week)",
                           "2", date="2026-02-23"),
                      thing("E1", "PyTorch", "thing"), thing("E2", "深圳", "place")),),
                group="100",
            ),
        ),
        (
            Expected("张三", "did", "PyTorch", ("PyTorch",), ("skilled_in", "status", "works_as")),
            Expected("Tom", "lives_in", "深圳", ("深圳|Shenzhen",), ("did",),
                     since="2026-02-23"),
        ),
        asks=(
            Ask("张三", "Tom 现在住在深圳吗？", gets=("深圳",), group="100"),
            Ask("Tom", "Who uses pytorch?", gets=("PyTorch",), group="100"),
        ),
    ),
    Scene(
        "zh-several-at-once",
        "一口气说了五件事",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 自我介绍：26岁，湖南人，在武汉读博，学材料的，喜欢打乒乓球",),
                (save(fact("U1", "age", "26岁", "张三2026年26岁", "1"),
                      fact("U1", "from", "E1", "张三是湖南人", "1"),
                      fact("U1", "lives_in", "E2", "张三在武汉", "1"),
                      fact("U1", "studies", "E3", "张三在武汉读材料专业的博士", "1"),
                      fact("U1", "likes", "E4", "张三喜欢打乒乓球", "1"),
                      thing("E1", "湖南", "place"), thing("E2", "武汉", "place"),
                      thing("E3", "材料"), thing("E4", "乒乓球")),),
            ),
        ),
        (
            Expected("张三", "age", "26岁", ("26岁",)),
            Expected("张三", "from", "湖南", ("湖南",)),
            Expected("张三", "lives_in", "武汉", ("武汉",)),
            Expected("张三", "studies", "材料", ("博士|读博",)),
            Expected("张三", "likes", "乒乓球", ("乒乓球",), ("habit", "skilled_in")),
        ),
        asks=(
            Ask("张三", "我喜欢打什么球？", gets=("乒乓球",)),
            Ask("张三", "我在武汉读什么？", gets=("材料",)),
        ),
    ),
    Scene(
        "zh-numbers-units-urls",
        "数字、单位、网址一字不差",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我身高178.5cm，体重72kg，血压138/92mmHg",
                 "张三: 博客在 https://blog.example.com/a?id=7&x=<y>#top"),
                (save(fact("U1", "health", "血压",
                           "张三身高178.5cm、体重72kg、血压138/92mmHg", "1"),
                      fact("U1", "owns", "博客",
                           "张三的博客是 https://blog.example.com/a?id=7&x=<y>#top", "2")),),
            ),
        ),
        (
            Expected("张三", "health", "", ("178.5cm", "72kg", "138/92mmHg"),
                     ("status", "other")),
            Expected("张三", "owns", "", ("https://blog.example.com/a?id=7&x=<y>#top",),
                     ("other", "did")),
        ),
        asks=(
            Ask("张三", "我的血压是多少？", gets=("138/92mmHg",)),
            Ask("张三", "我的博客网址是什么？", gets=("‹y›",), lacks=("<y>",)),
        ),
    ),
    Scene(
        "zh-one-off-question",
        "一次性的问答",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 法国首都是哪", "BOT: 巴黎", "张三: 谢谢"),
                (NOTHING,),
            ),
        ),
        nobody=("巴黎", "法国"),
    ),
    Scene(
        "zh-echo",
        "机器人念出记忆：不再学一遍",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我家在无锡",),
                (save(fact("U1", "lives_in", "E1", "张三住在无锡", "1"),
                      thing("E1", "无锡", "place")),),
            ),
            Sitting(
                "2026-03-03 20:00",
                ("张三: 你还记得我的事吗", "BOT: 记得，你住在无锡，家里有两只猫",
                 "张三: 厉害"),
                (save(fact("U1", "lives_in", "E1", "张三住在无锡", "2"),
                      fact("U1", "has_pet", "猫", "张三家里有两只猫", "2"),
                      thing("E1", "无锡", "place")),),
            ),
        ),
        (Expected("张三", "lives_in", "无锡", ("无锡",), uses=1),),
        never=("两只猫",),
        asks=(Ask("张三", "我家里有猫吗？", lacks=("两只猫",)),),
    ),
)
