"""Who is who: names that are shared, people who do not chat, families, pets, quarrels."""

from __future__ import annotations

from .stage import Ask, Expected, Label, Scene, Sitting, fact, save, thing

# fmt: off

SCENES = (
    Scene(
        "zh-one-name-two-groups",
        "两个群里的小明是两个人",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 小明考上清华了！",),
                (save(fact("E1", "studies", "E2", "小明考上了清华", "1"),
                      thing("E1", "小明", "person"), thing("E2", "清华", "organization")),),
                group="100",
            ),
            Sitting(
                "2026-03-03 20:00",
                ("李四: 小明昨天又被交警罚款了",),
                (save(fact("E1", "did", "罚款", "小明2026-03-02（昨天）被交警罚款", "1",
                           date="2026-03-02"),
                      thing("E1", "小明", "person")),),
                group="200",
                hidden=("清华",),
            ),
        ),
        (
            Expected("小明", "studies", "清华", ("清华",), ("did", "status"),
                     speaker="张三", group="100"),
            Expected("小明", "did", "", ("罚款",), ("status",), speaker="李四", group="200"),
        ),
        asks=(
            Ask("张三", "小明最近怎么样？考上哪里了？", gets=("清华",), lacks=("罚款",),
                group="100"),
            Ask("李四", "小明最近怎么样？被罚款了吗？", gets=("罚款",), lacks=("清华",),
                group="200"),
        ),
        nodes={"小明": 2},
    ),
    Scene(
        "zh-friend-who-does-not-chat",
        "不说话的朋友：她的事记在她名下",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我发小林晚在成都开了家咖啡馆，她怕狗",),
                (save(fact("U1", "friend_of", "E1", "林晚是张三的发小", "1"),
                      fact("E1", "owns", "E2", "林晚在成都开了一家咖啡馆", "1"),
                      fact("E1", "feels", "狗", "林晚怕狗", "1"),
                      thing("E1", "林晚", "person"), thing("E2", "咖啡馆", "place")),),
            ),
        ),
        (
            Expected("张三", "friend_of", "林晚", ("发小",), ("family",)),
            Expected("林晚", "owns", "", ("咖啡馆",), ("works_at", "did", "works_as"),
                     speaker="张三"),
            Expected("林晚", "feels", "", ("怕狗",), ("dislikes",), speaker="张三"),
        ),
        asks=(
            Ask("张三", "林晚怕什么？", gets=("怕狗",)),
            Ask("李四", "林晚怕什么？", lacks=("*",)),
        ),
    ),
    Scene(
        "zh-quarrel",
        "群里吵架：谁说的就是谁说的",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 李四你就是个骗子，欠我三百块不还",
                 "李四: 放屁，去年就还了",
                 "王五: 别吵了",
                 "张三: 王五你别和稀泥"),
                (save(fact("U1", "believes", "U2", "张三认为李四欠他三百块没还", "1"),
                      fact("U2", "believes", "U1", "李四认为欠张三的钱去年已经还了", "2")),),
                group="100",
            ),
        ),
        (
            Expected("张三", "believes", "李四", ("三百",), ("feels", "other"), speaker="张三"),
            Expected("李四", "believes", "张三", ("还了",), ("did", "other"), speaker="李四"),
        ),
        never=("李四是骗子",),
        asks=(
            Ask("王五", "李四欠张三钱吗？", gets=("张三认为李四欠他", "李四认为"), group="100"),
            Ask("赵六", "李四欠张三钱吗？", lacks=("*",)),
        ),
    ),
    Scene(
        "zh-gossip",
        "背后说人：说的人记在旁边",
        (
            Sitting(
                "2026-03-01 20:00", ("张三: 大家好",),
                ({"worth": False},), group="100",
            ),
            Sitting(
                "2026-03-02 20:00",
                ("李四: 张三最近在偷偷相亲",),
                (save(fact(Label("张三"), "did", "相亲", "张三最近在偷偷相亲", "1")),),
                group="100",
            ),
        ),
        (Expected("张三", "did", "", ("相亲",), ("status", "plans", "partner"),
                  speaker="李四"),),
        asks=(
            Ask("王五", "张三最近在相亲吗？", gets=("〔李四〕",), group="100"),
            Ask("张三", "我最近在相亲吗？", gets=("〔李四〕",)),
        ),
    ),
    Scene(
        "zh-group-card-changes",
        "群名片换了还是同一个人",
        (
            Sitting(
                "2026-03-02 20:00",
                ("10001/产品-小赵: 我喜欢打羽毛球",),
                (save(fact("U1", "likes", "E1", "产品-小赵喜欢打羽毛球", "1"),
                      thing("E1", "羽毛球")),),
                group="100",
            ),
            Sitting(
                "2026-06-02 20:00",
                ("10001/咸鱼赵: 我转岗做运营了",),
                (save(fact("U1", "works_as", "E8", "咸鱼赵转岗做运营", "1"),
                      thing("E8", "运营")),),
                group="100",
                shown=("喜欢打羽毛球",),
            ),
            Sitting(
                "2026-06-09 20:00",
                ("10002/老钱: 产品-小赵今天请我喝奶茶",),
                (save(fact("产品-小赵", "did", "请客", "咸鱼赵2026-06-09（今天）请老钱喝奶茶", "1",
                           date="2026-06-09")),),
                group="100",
            ),
        ),
        (
            Expected("10001", "likes", "羽毛球", ("羽毛球",), ("habit", "skilled_in")),
            Expected("10001", "works_as", "运营", ("运营",), ("status", "did")),
            Expected("10001", "did", "", ("奶茶",), speaker="10002"),
        ),
        names={"10001": ("产品-小赵", "咸鱼赵")},
        asks=(Ask("10002", "咸鱼赵喜欢打什么球？", gets=("羽毛球",), group="100"),),
    ),
    Scene(
        "zh-two-mothers",
        "各人的妈妈是各人的",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我妈是老师", "李四: 我妈做会计的"),
                (save(fact("E1", "works_as", "老师", "张三的妈妈是老师", "1"),
                      fact("E2", "works_as", "会计", "李四的妈妈是会计", "2"),
                      thing("E1", "张三的妈妈", "person"), thing("E2", "李四的妈妈", "person")),),
                group="100",
            ),
            Sitting(
                "2026-03-09 20:00",
                ("张三: 我妈妈下个月退休",),
                (save(fact("我妈妈", "plans", "退休", "张三的妈妈2026年4月（下个月）退休", "1",
                           date="2026-04")),),
                group="100",
            ),
        ),
        (
            Expected("张三的妈妈", "works_as", "", ("老师",), speaker="张三"),
            Expected("李四的妈妈", "works_as", "", ("会计",), speaker="李四"),
            Expected("张三的妈妈", "plans", "", ("退休",), ("status", "did"), speaker="张三"),
        ),
        nobody=("妈妈", "我妈", "我妈妈"),
        nodes={"张三的妈妈": 1, "李四的妈妈": 1},
    ),
    Scene(
        "zh-pet",
        "宠物是谁的、叫什么、怕什么",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我家豆包三岁了，橘猫，特别怕打雷", "BOT: 摸摸豆包"),
                (save(fact("U1", "has_pet", "E1", "张三养了一只叫豆包的橘猫，三岁", "1"),
                      fact("E1", "feels", "打雷", "豆包怕打雷", "1"),
                      thing("E1", "豆包", "animal", "橘猫")),),
            ),
            Sitting(
                "2026-04-02 20:00",
                ("张三: 豆包今天做绝育了",),
                (save(fact(Label("豆包"), "did", "绝育", "豆包2026-04-02（今天）做了绝育", "1",
                           date="2026-04-02")),),
                shown=("豆包 (animal)",),
            ),
        ),
        (
            Expected("张三", "has_pet", "豆包", ("豆包", "橘猫")),
            Expected("豆包", "feels", "", ("打雷",), ("dislikes", "other"), speaker="张三"),
            Expected("豆包", "did", "", ("绝育",), ("health",), since="2026-04-02",
                     speaker="张三"),
        ),
        asks=(Ask("张三", "豆包怕什么？", gets=("怕打雷",)),),
    ),
    Scene(
        "zh-birthdays-of-the-family",
        "一句话里三个人的生日，各归各",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我生日是3月9日，我老婆6月1日，儿子乐乐是国庆节生的",),
                (save(fact("U1", "birthday", "3月9日", "张三的生日是3月9日", "1"),
                      fact("老婆", "birthday", "6月1日", "张三的老婆的生日是6月1日", "1"),
                      fact("E1", "birthday", "10月1日",
                           "张三的儿子乐乐的生日是10月1日（国庆节）", "1"),
                      fact("U1", "family", "E1", "乐乐是张三的儿子", "1"),
                      thing("E1", "乐乐", "person")),),
            ),
        ),
        (
            Expected("张三", "birthday", "3月9日", ("3月9日",)),
            Expected("张三的老婆", "birthday", "6月1日", ("6月1日",), speaker="张三"),
            Expected("乐乐", "birthday", "10月1日", ("10月1日|国庆",), speaker="张三"),
            Expected("张三", "family", "乐乐", ("儿子",)),
        ),
        asks=(Ask("张三", "乐乐的生日是哪天？", gets=("10月1日",)),),
    ),
    Scene(
        "zh-allergies-in-a-group",
        "聚餐忌口：谁对什么过敏",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 周末聚餐，忌口报一下", "李四: 我花生过敏，会要命的那种",
                 "王五: 我海鲜不行", "王五: 还有我女朋友乳糖不耐受"),
                (save(fact("U2", "allergic_to", "E1", "李四对花生严重过敏", "2", importance=1),
                      fact("U3", "allergic_to", "E2", "王五对海鲜过敏", "3", importance=0.9),
                      fact("女朋友", "health", "乳糖", "王五的女朋友乳糖不耐受", "4"),
                      thing("E1", "花生"), thing("E2", "海鲜")),),
                group="100",
            ),
        ),
        (
            Expected("李四", "allergic_to", "花生", ("花生",), ("health",)),
            Expected("王五", "allergic_to", "海鲜", ("海鲜",), ("health", "dislikes")),
            Expected("王五的女朋友", "health", "", ("乳糖",), ("allergic_to",), speaker="王五"),
        ),
        asks=(Ask("张三", "谁对花生过敏？", gets=("李四",), group="100"),),
    ),
    Scene(
        "zh-same-name-in-one-group",
        "一个群里两个小明：名字指不到任何一个账号",
        (
            Sitting(
                "2026-03-02 20:00",
                ("20001/小明: 我是产品", "20002/小明: 我是研发", "张三: 小明昨天喝多了"),
                (save(fact("U1", "works_as", "产品", "小明做产品", "1"),
                      fact("U2", "works_as", "研发", "小明做研发", "2"),
                      fact("小明", "did", "喝酒", "小明2026-03-01（昨天）喝多了", "3",
                           date="2026-03-01")),),
                group="100",
            ),
        ),
        (
            Expected("20001", "works_as", "", ("产品",)),
            Expected("20002", "works_as", "", ("研发",)),
            Expected("小明", "did", "", ("喝多",), ("status",), speaker="张三"),
        ),
    ),
    Scene(
        "zh-labels-in-words",
        "模型把编号写进句子：换回名字",
        (
            Sitting(
                "2026-03-02 20:00",
                ("10001/阿宁: 我喜欢听U2乐队", "10002/石头: 阿宁昨天借了我的吉他"),
                (save(fact("U1", "likes", "U2", "U1喜欢听U2乐队", "1"),
                      fact("U1", "did", "吉他", "U1借了石头的吉他", "2")),),
                group="100",
            ),
        ),
        (
            Expected("10001", "likes", "U2", ("U2乐队",)),
            Expected("10001", "did", "", ("阿宁", "借了石头的吉他|吉他"), ("owns", "other"),
                     speaker="10002"),
        ),
    ),
    Scene(
        "zh-pronouns",
        "我、你、他：说的是谁就记在谁名下",
        (
            Sitting(
                "2026-03-02 20:00",
                ("张三: 我会弹钢琴，你会吗？", "BOT: 我不会", "张三: 他倒是会拉小提琴"),
                (save(fact("我", "skilled_in", "E1", "张三会弹钢琴", "1"),
                      fact("他", "skilled_in", "E2", "他会拉小提琴", "3"),
                      fact("用户", "likes", "E1", "用户喜欢音乐", "1"),
                      thing("E1", "钢琴"), thing("E2", "小提琴")),),
            ),
        ),
        (Expected("张三", "skilled_in", "钢琴", ("钢琴",)),),
        never=("小提琴", "用户"),
    ),
)
