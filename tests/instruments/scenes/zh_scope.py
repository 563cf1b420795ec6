"""Who may be reminded of what: private chats, groups, personas, pauses."""

from __future__ import annotations

from .stage import (
    NOTHING,
    Ask,
    Expected,
    Leave,
    Pause,
    Remember,
    Resume,
    Scene,
    Shown,
    Sitting,
    fact,
    save,
    thing,
)

# fmt: off

PREGNANT = Sitting(
    "2026-03-02 20:00",
    ("小雨: 悄悄告诉你，我怀孕了，还没跟别人说",),
    (save(fact("U1", "health", "怀孕", "小雨怀孕了，还没有告诉别人", "1")),),
)

SCENES = (
    Scene(
        "zh-private-stays-private",
        "私聊里的事，群里不知道，别人不知道，学习时也看不到",
        (
            PREGNANT,
            Sitting(
                "2026-03-03 20:00",
                ("小雨: 周末聚餐我不喝酒", "张三: 小雨你怎么了"),
                (save(fact("U1", "habit", "酒", "小雨周末聚餐不喝酒", "1")),),
                group="100",
                hidden=("怀孕",),
            ),
        ),
        (
            Expected("小雨", "health", "", ("怀孕",), ("status",), group=""),
            Expected("小雨", "habit", "", ("不喝酒",), ("plans", "dislikes", "did"), group="100"),
        ),
        asks=(
            Ask("小雨", "我怀孕的事还记得吗？", gets=("怀孕",)),
            Ask("小雨", "我怀孕的事还记得吗？", gets=("怀孕",), persona="ruo"),
            Ask("小雨", "小雨怀孕了吗？", lacks=("怀孕",), group="100"),
            Ask("张三", "小雨怀孕了吗？", lacks=("怀孕",), group="100"),
            Ask("张三", "小雨怀孕了吗？", lacks=("怀孕",)),
        ),
    ),
    Scene(
        "zh-told-in-private-about-somebody",
        "私下说别人的话，那个人看不到",
        (
            Sitting("2026-03-01 20:00", ("张三: 大家早", "李四: 早"), (NOTHING,), group="100"),
            Sitting(
                "2026-03-02 20:00",
                ("李四: 我觉得张三人品不行",),
                (save(fact("U1", "believes", "张三", "李四觉得张三人品不行", "1")),),
            ),
        ),
        (Expected("李四", "believes", "", ("张三", "人品"), ("feels", "dislikes"), group=""),),
        asks=(
            Ask("李四", "我觉得张三人品怎么样？", gets=("人品不行",)),
            Ask("张三", "李四觉得我人品怎么样？", lacks=("人品",)),
            Ask("张三", "李四觉得张三人品怎么样？", lacks=("人品",), group="100"),
        ),
    ),
    Scene(
        "zh-group-words-follow-home",
        "群里说过的，在场的人私聊时想得起，不在场的不行",
        (
            Sitting(
                "2026-03-02 20:00",
                ("李四: 早", "张三: 我家的酒窖密码锁是祖传的", "李四: 厉害"),
                (save(fact("U2", "owns", "E1", "张三家有一个带祖传密码锁的酒窖", "2"),
                      thing("E1", "酒窖", "thing")),),
                group="100",
            ),
            Sitting("2026-03-09 20:00", ("王五: 新人报到",), (NOTHING,), group="100"),
        ),
        (Expected("张三", "owns", "酒窖", ("酒窖",), ("family", "other"), group="100"),),
        asks=(
            Ask("李四", "谁家有酒窖？", gets=("酒窖",)),
            Ask("王五", "谁家有酒窖？", lacks=("*",)),
            Ask("王五", "谁家有酒窖？", gets=("酒窖",), group="100"),
            Ask("赵六", "谁家有酒窖？", lacks=("*",), group="200"),
        ),
    ),
    Scene(
        "zh-left-the-group",
        "退群以后说的，听不到",
        (
            Sitting(
                "2026-03-02 20:00",
                ("李四: 早", "张三: 群聚会定在东湖"),
                (save(fact("U2", "plans", "E1", "张三说群聚会定在东湖", "2"),
                      thing("E1", "东湖", "place")),),
                group="100",
            ),
            Leave("2026-03-05 12:00", "李四", "100"),
            Sitting(
                "2026-03-06 20:00",
                ("张三: 群聚会改到植物园了",),
                (save(fact("U1", "plans", "E8", "张三说群聚会改到植物园", "1",
                           replaces=Shown("东湖")),
                      thing("E8", "植物园", "place")),),
                group="100",
            ),
        ),
        (
            Expected("张三", "plans", "东湖", ("东湖",), ("other",), state="replaced"),
            Expected("张三", "plans", "植物园", ("植物园",), ("other",), replaces=("东湖",)),
        ),
        asks=(
            Ask("李四", "群聚会定在哪里？", gets=("东湖",), lacks=("植物园", "现在不是了")),
            Ask("张三", "群聚会定在哪里？", gets=("植物园",), outdated=("东湖",), group="100"),
        ),
    ),
    Scene(
        "zh-persona-switch",
        "说到一半换人格：各归各的会话",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我喜欢听相声", "BOT: 我也爱听"),
                (save(fact("U1", "likes", "E1", "张三喜欢听相声", "1"), thing("E1", "相声")),),
                learn=False,
            ),
            Sitting(
                "2026-03-02 20:02",
                ("张三: 若若，我想学潜水",),
                (save(fact("U1", "plans", "E1", "张三想学潜水", "1"), thing("E1", "潜水")),),
                persona="ruo",
                hidden=("我喜欢听相声",),
            ),
        ),
        (
            Expected("张三", "likes", "相声", ("相声",), persona="mei"),
            Expected("张三", "plans", "潜水", ("潜水",), ("likes",), persona="ruo"),
        ),
        asks=(
            Ask("张三", "我喜欢听什么？", gets=("张三喜欢听相声",), persona="ruo"),
            Ask("张三", "我想学什么？学潜水？", gets=("张三想学潜水",), persona="mei"),
        ),
    ),
    Scene(
        "zh-layers-between-personas",
        "分层：关于用户的事共享，别的话留在那个人格",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我养了只仓鼠叫花卷", "张三: 花卷会开笼子门"),
                (save(fact("U1", "has_pet", "E1", "张三养了一只叫花卷的仓鼠", "1"),
                      fact("E1", "skilled_in", "开门", "花卷会开笼子门", "2"),
                      thing("E1", "花卷", "animal")),),
            ),
        ),
        (
            Expected("张三", "has_pet", "花卷", ("花卷",)),
            Expected("花卷", "skilled_in", "", ("笼子门|笼子",), ("did", "habit", "other"),
                     speaker="张三"),
        ),
        asks=(
            Ask("张三", "花卷会开什么门？", gets=("笼子门",)),
            Ask("张三", "花卷会开什么门？", gets=("张三养了一只叫花卷的仓鼠",), lacks=("笼子门",),
                persona="ruo"),
        ),
    ),
    Scene(
        "zh-isolated-personas",
        "完全隔离：换个人格什么都不知道",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我养了只仓鼠叫花卷",),
                (save(fact("U1", "has_pet", "E1", "张三养了一只叫花卷的仓鼠", "1"),
                      thing("E1", "花卷", "animal")),),
            ),
            Sitting("2026-03-03 20:00", ("张三: 花卷是谁",), (NOTHING,), persona="ruo",
                    hidden=("仓鼠",)),
        ),
        (Expected("张三", "has_pet", "花卷", ("花卷",)),),
        asks=(
            Ask("张三", "我养的仓鼠叫什么？", gets=("花卷",)),
            Ask("张三", "我养的仓鼠叫什么？", lacks=("仓鼠叫花卷", "养了一只"), persona="ruo"),
        ),
        settings={"memory_sharing_mode": "isolated"},
    ),
    Scene(
        "zh-private-and-group-alike",
        "同一件事在私聊和群里各说一遍：两行，各看各的",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我要去冰岛了，其实是为了求婚",),
                (save(fact("U1", "plans", "E1", "张三要去冰岛求婚", "1"),
                      thing("E1", "冰岛", "place")),),
            ),
            Sitting(
                "2026-03-03 20:00",
                ("张三: 下个月我去冰岛玩",),
                (save(fact("U1", "plans", "E1", "张三2026年4月（下个月）去冰岛玩", "1"),
                      thing("E1", "冰岛", "place")),),
                group="100",
                hidden=("求婚",),
            ),
        ),
        (
            Expected("张三", "plans", "冰岛", ("求婚",), group=""),
            Expected("张三", "plans", "冰岛", ("下个月",), group="100"),
        ),
        asks=(
            Ask("张三", "我去冰岛做什么？", gets=("求婚",)),
            Ask("李四", "张三去冰岛做什么？", gets=("冰岛玩",), lacks=("求婚",), group="100"),
        ),
    ),
    Scene(
        "zh-group-learning-off",
        "关闭群聊学习：群里的话一句不留",
        (
            Sitting("2026-03-02 20:00", ("张三: 我对青霉素过敏",), group="100"),
            Sitting(
                "2026-03-02 21:00",
                ("张三: 我对青霉素过敏",),
                (save(fact("U1", "allergic_to", "E1", "张三对青霉素过敏", "1"),
                      thing("E1", "青霉素")),),
            ),
        ),
        (Expected("张三", "allergic_to", "青霉素", ("青霉素",), ("health",), group=""),),
        asks=(
            Ask("张三", "我对什么过敏？", gets=("青霉素",)),
            Ask("李四", "张三对青霉素过敏吗？", lacks=("*",), group="100"),
        ),
        settings={"enable_group_learning": False},
    ),
    Scene(
        "zh-paused-person",
        "暂停记忆：这个人的话不存，别人的照旧，恢复后再存",
        (
            Pause("张三"),
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我欠了五十万网贷", "李四: 我会修电脑"),
                (save(fact("U1", "skilled_in", "E1", "李四会修电脑", "1"), thing("E1", "电脑")),),
                group="100",
                hidden=("网贷",),
            ),
            Sitting("2026-03-02 20:30", ("张三: 网贷利息好高", "BOT: 别急，慢慢还")),
            Resume("张三"),
            Sitting(
                "2026-03-02 21:00",
                ("张三: 我换了新手机",),
                (save(fact("U1", "owns", "E1", "张三换了新手机", "1"),
                      thing("E1", "手机", "thing")),),
            ),
        ),
        (
            Expected("李四", "skilled_in", "", ("修电脑",)),
            Expected("张三", "owns", "", ("手机",), ("did",)),
        ),
        never=("网贷",),
        asks=(Ask("张三", "我的网贷利息高吗？", lacks=("网贷", "慢慢还")),),
    ),
    Scene(
        "zh-paused-group",
        "整个群暂停",
        (
            Pause(group="100"),
            Sitting("2026-03-02 20:00", ("张三: 工资条发错了，老板月薪八万",), group="100"),
            Resume(group="100"),
            Sitting("2026-03-03 20:00", ("张三: 早上好",), (NOTHING,), group="100"),
        ),
        never=("月薪",),
        asks=(Ask("李四", "老板月薪多少？", lacks=("*",), group="100"),),
    ),
    Scene(
        "zh-remember-while-the-model-is-down",
        "“记住”：模型坏了也原话记下",
        (
            Remember("2026-03-02 20:00", "张三: 记住，我妹妹的婚礼在2026-10-06", (None,)),
        ),
        (Expected("张三", "other", "", ("妹妹的婚礼在2026-10-06",), ("plans", "family")),),
        asks=(Ask("张三", "我妹妹的婚礼是哪天？", gets=("2026-10-06",)),),
        waiting=1,
        live=False,
    ),
    Scene(
        "zh-remember-what-the-model-ignores",
        "“记住”：模型说不值得记，也记下",
        (
            Remember("2026-03-02 20:00", "张三: 记住我的幸运数字是73", (NOTHING,)),
        ),
        (Expected("张三", "other", "", ("幸运数字是73",), ("likes", "believes")),),
        asks=(Ask("张三", "我的幸运数字是多少？", gets=("73",)),),
    ),
)
