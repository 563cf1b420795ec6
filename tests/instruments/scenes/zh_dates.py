"""Dates, plans and their end, promises."""

from __future__ import annotations

from .stage import Ask, Expected, Scene, Shown, Sitting, fact, save, thing

# fmt: off

SCENES = (
    Scene(
        "zh-yesterday",
        "昨天：换算成日期，原话留着",
        (
            Sitting(
                "2026-05-04 10:00",
                ("张三: 我昨天刚拿到驾照！",),
                (save(fact("U1", "did", "E1", "张三2026-05-03（昨天）拿到了驾照", "1",
                           date="2026-05-03"), thing("E1", "驾照", "thing")),),
                shown=("2026-05-04 周一", "[1] 10:00 U1 张三"),
            ),
        ),
        (Expected("张三", "did", "驾照", ("2026-05-03", "昨天", "驾照"), ("owns", "status"),
                  since="2026-05-03"),),
        asks=(Ask("张三", "我哪天拿到驾照的？", gets=("2026-05-03",), at="2026-11-01 10:00"),),
    ),
    Scene(
        "zh-sunday-after-next",
        "下下周日晚上七点",
        (
            Sitting(
                "2026-05-06 10:00",
                ("张三: 下下周日晚上七点我要去听周杰伦的演唱会",),
                (save(fact("U1", "plans", "E1",
                           "张三计划2026-05-17 19:00（下下周日晚上七点）去听周杰伦演唱会", "1",
                           date="2026-05-17 19:00"), thing("E1", "周杰伦演唱会", "event")),),
                shown=("2026-05-06 周三",),
            ),
        ),
        (Expected("张三", "plans", "", ("2026-05-17", "下下周日", "19:00|七点", "周杰伦"),
                  since="2026-05-06"),),
        asks=(Ask("张三", "我什么时候去听演唱会？", gets=("2026-05-17",)),),
    ),
    Scene(
        "zh-in-three-days",
        "大后天",
        (
            Sitting(
                "2026-12-30 21:00",
                ("张三: 大后天有场面试，好紧张",),
                (save(fact("U1", "plans", "E1", "张三2027-01-02（大后天）有一场面试", "1",
                           date="2027-01-02"), thing("E1", "面试", "event")),),
            ),
        ),
        (Expected("张三", "plans", "面试", ("2027-01-02", "大后天", "面试")),),
    ),
    Scene(
        "zh-end-of-last-month",
        "上个月底",
        (
            Sitting(
                "2026-03-10 21:00",
                ("张三: 上个月底我就从公司离职了，现在在家待业",),
                (save(fact("U1", "did", "离职", "张三2026-02-28（上个月底）从公司离职", "1",
                           date="2026-02-28"),
                      fact("U1", "status", "待业", "张三在家待业", "1", date="2026-02-28")),),
            ),
        ),
        (
            Expected("张三", "did", "", ("2026-02", "上个月底", "离职"), ("status", "works_at"),
                     since="2026-02-28"),
            Expected("张三", "status", "", ("待业",), ("works_as",), since="2026-02-28"),
        ),
    ),
    Scene(
        "zh-future-state-begins-later",
        "“下个月搬去深圳”：还没搬，住处不变",
        (
            Sitting(
                "2026-05-04 21:00",
                ("张三: 我住广州",),
                (save(fact("U1", "lives_in", "E1", "张三住在广州", "1"),
                      thing("E1", "广州", "place")),),
            ),
            Sitting(
                "2026-05-20 21:00",
                ("张三: 房子找好了，下个月1号搬去深圳",),
                (save(fact("U1", "lives_in", "E8", "张三将于2026-06-01（下个月1号）搬到深圳", "1",
                           date="2026-06-01"), thing("E8", "深圳", "place")),),
            ),
        ),
        (
            Expected("张三", "lives_in", "广州", ("广州",)),
            Expected("张三", "lives_in", "深圳", ("2026-06-01", "深圳"), since="2026-06-01"),
        ),
        asks=(Ask("张三", "我现在住在哪里？", gets=("广州",)),),
    ),
    Scene(
        "zh-plan-carried-out",
        "计划实现了：计划结束，记下做过的事",
        (
            Sitting(
                "2026-05-04 21:00",
                ("张三: 我打算六月去考日语N2",),
                (save(fact("U1", "plans", "E1", "张三打算2026年6月考日语N2", "1",
                           date="2026-06"), thing("E1", "日语N2", "event")),),
            ),
            Sitting(
                "2026-07-10 21:00",
                ("张三: 日语N2考完了，上周日考的，感觉能过",),
                (save(fact("U1", "did", "E1", "张三2026-07-05（上周日）考了日语N2", "1",
                           date="2026-07-05", replaces=Shown("打算2026年6月考日语N2")),
                      thing("E1", "日语N2", "event")),),
            ),
        ),
        (
            Expected("张三", "plans", "日语N2", ("打算", "日语N2"), state="replaced"),
            Expected("张三", "did", "日语N2", ("2026-07-05", "N2"), ("status",),
                     since="2026-07-05", replaces=("打算",)),
        ),
        asks=(
            Ask("张三", "我的日语N2考了吗？", gets=("考了日语N2",)),
            Ask("张三", "我之前打算什么时候考日语N2？", gets=("打算",), outdated=("打算",)),
        ),
    ),
    Scene(
        "zh-plan-given-up",
        "计划取消",
        (
            Sitting(
                "2026-05-04 21:00",
                ("张三: 国庆想去西藏自驾",),
                (save(fact("U1", "plans", "E1", "张三计划2026-10-01（国庆）去西藏自驾", "1",
                           date="2026-10-01"), thing("E1", "西藏", "place")),),
            ),
            Sitting(
                "2026-08-04 21:00",
                ("张三: 西藏不去了，机票太贵",),
                (save(ended=Shown("西藏自驾")),),
            ),
        ),
        (
            Expected("张三", "plans", "西藏", ("西藏",), state="replaced"),
            Expected("张三", "plans", "西藏", ("西藏",), state="over", until="2026-08-04"),
        ),
    ),
    Scene(
        "zh-bot-promises",
        "机器人答应的事记在机器人名下",
        (
            Sitting(
                "2026-05-04 21:00",
                ("张三: 明天能给我讲个恐龙的故事吗",
                 "BOT: 好，明天晚上给你讲恐龙的故事！"),
                (save(fact("BOT", "promised", "U1", "BOT答应张三2026-05-05（明天）晚上讲恐龙的故事",
                           "1,2", date="2026-05-05")),),
            ),
            Sitting(
                "2026-05-06 21:00",
                ("张三: 在吗", "BOT: 在！下次我还会推荐一本恐龙书给你。"),
                (save(fact("BOT", "plans", "E1", "BOT答应下次推荐一本恐龙书给张三", "2"),
                      thing("E1", "恐龙书", "work")),),
            ),
        ),
        (
            Expected("BOT", "promised", "", ("2026-05-05", "恐龙的故事"), ("plans",),
                     speaker="张三"),
            Expected("BOT", "promised", "", ("恐龙书",), ("plans",)),
        ),
        asks=(
            Ask("张三", "你答应过给我讲什么故事？", gets=("恐龙的故事",)),
            Ask("张三", "你答应过给我讲什么故事？", lacks=("恐龙",), persona="ruo"),
        ),
    ),
    Scene(
        "zh-user-promises",
        "群里的约定：谁答应谁",
        (
            Sitting(
                "2026-05-04 21:00",
                ("李四: 又是周一", "张三: 这周六我请李四吃火锅", "李四: 说定了啊"),
                (save(fact("U2", "promised", "U1", "张三答应2026-05-09（这周六）请李四吃火锅",
                           "2,3", date="2026-05-09")),),
                group="100",
            ),
        ),
        (Expected("张三", "promised", "李四", ("2026-05-09", "李四", "火锅"), ("plans",),
                  group="100"),),
        asks=(
            Ask("李四", "谁答应请我吃火锅？", gets=("张三答应",), group="100"),
            Ask("李四", "谁答应请我吃火锅？", gets=("张三答应",)),
            Ask("王五", "谁答应请李四吃火锅？", lacks=("*",)),
        ),
    ),
    Scene(
        "zh-across-midnight",
        "聊过了零点：“今天”各算各的",
        (
            Sitting(
                "2026-05-04 23:59",
                ("张三: 今天我面试通过了", "张三: 开心", "张三: 今天要好好睡一觉",
                 "张三: 晚安"),
                (
                    save(fact("U1", "did", "面试", "张三2026-05-04（今天）面试通过了", "1",
                              date="2026-05-04"),
                         fact("U1", "plans", "睡觉", "张三2026-05-05（今天）要好好睡一觉", "3",
                              date="2026-05-05")),
                ),
                shown=("2026-05-05 周二\n[3]",),
            ),
        ),
        (
            Expected("张三", "did", "", ("2026-05-04", "面试通过"), ("status",),
                     since="2026-05-04"),
            Expected("张三", "plans", "", ("2026-05-05", "睡"), ("status", "habit")),
        ),
        live=False,
    ),
    Scene(
        "zh-impossible-date",
        "不存在的日期不影响记忆",
        (
            Sitting(
                "2026-03-01 12:00",
                ("张三: 我二月三十号去滑雪了哈哈记不清几号了",),
                (save(fact("U1", "did", "E1", "张三二月底去滑雪了", "1", date="2026-02-30"),
                      thing("E1", "滑雪", "event")),),
            ),
        ),
        (Expected("张三", "did", "滑雪", ("滑雪",), since="2026-03-01"),),
    ),
)
