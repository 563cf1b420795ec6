"""Everyday chats in English: tastes, places, dates, plans, odd shapes."""

from __future__ import annotations

from .stage import NOTHING, UNKNOWN, Ask, Expected, Scene, Shown, Sitting, fact, save, thing

# fmt: off

SCENES = (
    Scene(
        "en-taste-changes",
        "Loved spicy food, does not eat it any more",
        (
            Sitting(
                "2026-03-02 12:00",
                ("Ann: I love spicy food, the hotter the better",),
                (save(fact("U1", "likes", "E1", "Ann loves spicy food", "1"),
                      thing("E1", "spicy food")),),
            ),
            Sitting(
                "2026-05-02 12:00",
                ("Ann: doctor's orders, no more spicy food for me",),
                (save(fact("U1", "dislikes", "E1",
                           "Ann no longer eats spicy food on doctor's orders", "1",
                           replaces=Shown("loves spicy food")),
                      thing("E1", "spicy food")),),
                shown=("Ann loves spicy food",),
            ),
        ),
        (
            Expected("Ann", "likes", "spicy food", ("spicy",), state="replaced",
                     since="2026-03-02"),
            Expected("Ann", "dislikes", "spicy food", ("spicy",), ("habit", "health", "status"),
                     since="2026-05-02", replaces=("loves",)),
        ),
        asks=(
            Ask("Ann", "Do I eat spicy food now?", gets=("no longer eats",)),
            Ask("Ann", "Did I love spicy food before?", gets=("loves spicy",),
                outdated=("loves spicy",)),
        ),
    ),
    Scene(
        "en-used-to-live",
        "A late \"I used to live in Boston\" leaves the home of today alone",
        (
            Sitting(
                "2026-03-02 20:00",
                ("Ann: I live in Seattle, near the lake",),
                (save(fact("U1", "lives_in", "E1", "Ann lives in Seattle", "1"),
                      thing("E1", "Seattle", "place")),),
            ),
            Sitting(
                "2026-04-02 20:00",
                ("Ann: I used to live in Boston until 2019",),
                (save(fact("U1", "lives_in", "E8", "Ann used to live in Boston until 2019", "1",
                           past=True),
                      thing("E8", "Boston", "place")),),
            ),
        ),
        (
            Expected("Ann", "lives_in", "Seattle", ("Seattle",), since="2026-03-02"),
            Expected("Ann", "lives_in", "Boston", ("Boston", "2019"), state="over"),
        ),
        asks=(
            Ask("Ann", "Where do I live?", gets=("Ann lives in Seattle",)),
            Ask("Ann", "Where did I use to live?", gets=("Boston",), outdated=("Boston",)),
        ),
    ),
    Scene(
        "en-last-friday",
        "Last Friday, said on a Monday",
        (
            Sitting(
                "2026-05-04 09:00",
                ("Ann: I got my pilot licence last Friday!",),
                (save(fact("U1", "did", "E1",
                           "Ann got her pilot licence on 2026-05-01 (last Friday)", "1",
                           date="2026-05-01"),
                      thing("E1", "pilot licence", "thing")),),
                shown=("2026-05-04 Mon",),
            ),
        ),
        (Expected("Ann", "did", "", ("2026-05-01", "last Friday", "pilot"),
                  ("owns", "skilled_in"), since="2026-05-01"),),
        asks=(Ask("Ann", "When did I get my pilot licence?", gets=("2026-05-01",),
                  at="2026-12-01 09:00"),),
    ),
    Scene(
        "en-two-weeks-from-tomorrow",
        "The Sunday after next at seven in the evening",
        (
            Sitting(
                "2026-05-06 09:00",
                ("Ann: the choir sings the Sunday after next at 7pm, come along Ben",
                 "Ben: I'll be there"),
                (save(fact("U1", "plans", "E1",
                           "Ann's choir sings on 2026-05-17 19:00 (the Sunday after next at 7pm)",
                           "1", date="2026-05-17 19:00"),
                      fact("U2", "promised", "U1", "Ben promised Ann to come to the choir's"
                           " concert on 2026-05-17", "2", date="2026-05-17"),
                      thing("E1", "choir", "organization")),),
                group="300",
            ),
        ),
        (
            Expected("Ann", "plans", "", ("choir", "2026-05-17"), ("other", "did")),
            Expected("Ben", "promised", "Ann", ("2026-05-17|choir",), ("plans",), speaker=UNKNOWN),
        ),
        asks=(Ask("Cleo", "When does the choir sing?", gets=("2026-05-17 19:00",), group="300"),),
    ),
    Scene(
        "en-correction",
        "\"No wait, it's …\"",
        (
            Sitting(
                "2026-03-02 20:00",
                ("Ann: my sister's name is Clara",),
                (save(fact("U1", "family", "E1", "Ann's sister is Clara", "1"),
                      thing("E1", "Clara", "person")),),
            ),
            Sitting(
                "2026-03-02 21:00",
                ("Ann: no wait, stupid autocorrect, it's Klara with a K",),
                (save(fact("U1", "family", "E9", "Ann's sister is Klara", "1",
                           replaces=Shown("Clara")),
                      thing("E9", "Klara", "person")),),
            ),
        ),
        (
            Expected("Ann", "family", "Clara", ("Clara",), state="replaced"),
            Expected("Ann", "family", "Klara", ("Klara",), replaces=("Clara",)),
        ),
        asks=(Ask("Ann", "What is my sister's name?", gets=("Klara",)),),
    ),
    Scene(
        "en-said-again",
        "The same thing in the same words, with and without a full stop",
        (
            Sitting("2026-03-02 20:00", ("Ann: I run every morning",),
                    (save(fact("U1", "habit", "E1", "Ann runs every morning", "1"),
                          thing("E1", "running")),)),
            Sitting("2026-03-12 20:00", ("Ann: ran again this morning like every morning",),
                    (save(fact("U1", "habit", "", "Ann runs every morning.", "1")),)),
            Sitting("2026-03-22 20:00", ("Ann: yep still running every morning",),
                    (save(restated=Shown("runs every morning")),)),
        ),
        (Expected("Ann", "habit", "running", ("every morning",), uses=3),),
    ),
    Scene(
        "en-plan-ends",
        "A marathon that was planned, then run",
        (
            Sitting("2026-03-02 20:00", ("Ann: signed up for the Berlin marathon in September",),
                    (save(fact("U1", "plans", "E1",
                               "Ann plans to run the Berlin marathon in 2026-09 (September)", "1",
                               date="2026-09"), thing("E1", "Berlin marathon", "event")),)),
            Sitting("2026-09-28 09:00",
                    ("Ann: I ran the Berlin marathon yesterday! 3h58m",),
                    (save(fact("U1", "did", "E1",
                               "Ann ran the Berlin marathon on 2026-09-27 (yesterday) in 3h58m",
                               "1", date="2026-09-27", replaces=Shown("plans to run")),
                          thing("E1", "Berlin marathon", "event")),)),
        ),
        (
            Expected("Ann", "plans", "Berlin marathon", ("Berlin",), state="replaced"),
            Expected("Ann", "did", "Berlin marathon", ("2026-09-27", "3h58m|3:58"),
                     since="2026-09-27", replaces=("plans",)),
        ),
        asks=(Ask("Ann", "How did the Berlin marathon go?", gets=("3h58m",)),),
    ),
    Scene(
        "en-code",
        "A stack trace with somebody's name in it",
        (
            Sitting(
                "2026-03-02 20:00",
                ("Ann: why?\n```\nTraceback (most recent call last):\n  File "
                 "\"/home/mallory/app.py\", line 7, in <module>\nKeyError: 'birthday'\n```",
                 "BOT: use dict.get"),
                (NOTHING,),
            ),
        ),
        never=("mallory", "birthday"),
        nobody=("mallory",),
    ),
    Scene(
        "en-irony",
        "Irony: not worth remembering",
        (
            Sitting("2026-03-02 20:00",
                    ("Ann: oh sure, I just ADORE being on hold for two hours",), (NOTHING,)),
        ),
        never=("adore", "on hold"),
    ),
    Scene(
        "en-lyrics",
        "Somebody else's words in quotation marks",
        (
            Sitting("2026-03-02 20:00",
                    ("Ann: my gran always said \"I was born under a wandering star and I owe "
                     "the devil a horse\"",),
                    (save(fact("grandma", "other", "E1",
                               "Ann's grandma used to say she was born under a wandering star",
                               "1"),),)),
        ),
        (Expected("Ann's grandma", "other", "", ("wandering star",), ("believes", "habit"),
                  speaker="Ann"),),
        never=("Ann owes", "Ann was born"),
    ),
    Scene(
        "en-numbers-and-links",
        "Units, prices and links survive as they are",
        (
            Sitting("2026-03-02 20:00",
                    ("Ben: my bike is 9.7 kg, cost $2,349.00 (~€2.1k), specs at "
                     "https://bikes.example.org/x?y=1&z=2#frame",),
                    (save(fact("U1", "owns", "E1",
                               "Ben's bike weighs 9.7 kg and cost $2,349.00; specs: "
                               "https://bikes.example.org/x?y=1&z=2#frame", "1"),
                          thing("E1", "bike", "thing")),)),
        ),
        (Expected("Ben", "owns", "bike", ("9.7 kg", "$2,349.00", "?y=1&z=2#frame")),),
        asks=(Ask("Ben", "How heavy is my bike?", gets=("9.7 kg", "$2,349.00")),),
    ),
    Scene(
        "en-several-at-once",
        "A whole life in one message",
        (
            Sitting("2026-03-02 20:00",
                    ("Ben: quick intro: 34, from Dublin, nurse at St. Mary's, allergic to "
                     "peanuts, two kids, learning Mandarin 你好",),
                    (save(fact("U1", "age", "34", "Ben is 34 in 2026", "1"),
                          fact("U1", "from", "E1", "Ben is from Dublin", "1"),
                          fact("U1", "works_as", "E2", "Ben works as a nurse at St. Mary's", "1"),
                          fact("U1", "allergic_to", "E3", "Ben is allergic to peanuts", "1"),
                          fact("U1", "family", "kids", "Ben has two kids", "1"),
                          fact("U1", "studies", "E4", "Ben is learning Mandarin", "1"),
                          thing("E1", "Dublin", "place"), thing("E2", "nurse"),
                          thing("E3", "peanuts", "thing"), thing("E4", "Mandarin")),)),
        ),
        (
            Expected("Ben", "age", "34", ("34",)),
            Expected("Ben", "from", "Dublin", ("Dublin",)),
            Expected("Ben", "works_as", "nurse", ("nurse",), ("works_at",)),
            Expected("Ben", "allergic_to", "peanuts", ("peanuts",), ("health",)),
            Expected("Ben", "family", "", ("two kids|two children",)),
            Expected("Ben", "studies", "Mandarin", ("Mandarin",), ("skilled_in", "plans", "did")),
        ),
        asks=(
            Ask("Ben", "What am I allergic to?", gets=("peanuts",)),
            Ask("Ben", "我对什么过敏？peanuts 吗？", gets=("peanuts",)),
        ),
    ),
)
