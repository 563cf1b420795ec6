"""Requests to keep something to oneself are heard, and talk about secrets is not."""

import pytest

from graph_memory.privacy.confidence import asks_to_keep, reaches_back
from tests.cases import rows

ASKED = (
    """
我在看心理医生，别告诉别人|这事你不要跟大鹏说出去|千万别让王浩知道|不能让她知道这个惊喜
帮我保密|先瞒着他|我不希望同事知道|这是我们的秘密|先别声张|记得保密哦|別告訴別人|不要講出去
我懷孕了，請保密|别往外说|别跟小红说|不要和小红提|别对别人说|千万别说|不许说出去
不要跟任何人讲|替我保守秘密|我只告诉你一个人|这事儿你知道就行|你别说漏嘴|这是咱俩的秘密
勿外传|不要公开|请不要告诉我妈|别告诉我老婆|不要對任何人說|千萬別跟我爸說|别把这事说出去
不可以告诉小明|不准告诉别人哦|先不要跟组里的人说|别给我姐透露|不要让老板知道我在面试
我不想让别人知道|我不想被家里人知道这件事|不願意讓同學知道|替我瞒着大家|请务必保密
你一定要保密啊|这可是秘密|这是个秘密|這是我們之間的祕密|你知我知|天知地知，你知我知
我只跟你说，其实我离婚了|到你这儿为止|这话烂在肚子里|对外保密|对小红保密哦|别到处说
不要随便告诉别人|这件事别告诉别人|你自己知道就好|请勿外泄|别走漏风声|不要声张|莫要告诉他人
不许说|别提这事|这个不能说|这件事不要提哦
甭跟他说|不能告诉孩子|别再跟别人提这事|瞒着我妈偷偷买的|Don't tell anyone, but I'm pregnant
please keep it secret|just between you and me|nobody should know|never tell him
keep this between us|please don't share this|off the record, I'm quitting
this is confidential|don't mention it to Bob|do not tell my mum|dont tell Sarah
keep it to yourself|it's a secret|this stays between us|our little secret|tell no one
no one else must know|mum's the word|not a word to the boss|I'm only telling you
for your ears only|I don't want my parents to know|please don't let him find out
don't say anything to Tom|never repeat this|I tell you this in confidence
keep that quiet please|you didn't hear it from me|don't breathe a word|this stays here
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

TALK = (
    """
今天别迟到|告诉大家我到了|保密协议怎么写|不知道|别说了|秘密花园这本书好看|你别告诉我又加班
我没告诉别人这家店多好吃|别告诉我你又忘了|他不知道这件事|公开课几点开始|我也不知道怎么跟他说
不要忘了告诉我结果|别提了，今天太累|别提醒我了|告别演唱会说了什么|这家店不让自带酒水
你不要说话|别说话，听我讲|不能说不好吃|不说别的，味道很好|区别说明书里有|他们的秘密被发现了
不想知道|我不想知道结果|谁都不知道|没让他知道|没人知道他去哪了|怎么保密工作做得这么好
他跟我说了个秘密|分别告诉了他们|你说对不对|别开玩笑|不要讲价|我不会说英语|我不太会讲故事
不要提前下班|不能提高一点吗|别提高音量|不让我知道拉倒|别让我等太久|别让他跑了
不要让孩子看太多电视|我不告诉你|他没有说出去玩|说不定明天下雨|不能告别单身|个别说法不准
别人说这里好吃|别人告诉我的|我跟别人说好了|不要紧，说吧|这不是秘密|那个秘密基地还在吗
秘密武器|不对劲|不要对着我说|莫名其妙|差别不大|特别说明一下|不知道的话就说不知道
不跟你说了，我去洗澡|先不跟你聊了|不好意思我说错了|他不说我也知道|不打算说服他|保密局的枪声
知道就好了|不许说话|这个不能说吗|这事不能说明什么
don't tell me you forgot|tell everyone|I can keep a secret|can you keep a dog here
nobody knows|between jobs|Don't tell me again|I don't know|she never told me|never mind
keep calm|he kept the change|the record shop|no one came|the secret garden is lovely
don't let me down|don't say sorry|don't forget to share the photos
please share this with everyone|never say never|Victoria's Secret|I don't want to know
what's the secret of good bread|it's a private school|do not tell us lies|word of mouth
it stays cold here
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def test_the_tables_are_long_enough() -> None:
    assert len(set(ASKED)) >= 80
    assert len(set(TALK)) >= 80


@pytest.mark.parametrize("text", ASKED)
def test_what_is_told_in_confidence(text: str) -> None:
    assert asks_to_keep(text)


@pytest.mark.parametrize("text", TALK)
def test_what_is_not(text: str) -> None:
    assert not asks_to_keep(text)


@pytest.mark.parametrize(
    "text", rows(__file__, "test_a_bare_request_means_what_was_said_before_it")
)
def test_a_bare_request_means_what_was_said_before_it(text: str) -> None:
    assert reaches_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "我下周要辞职，这件事别告诉别人", "我喜欢上李雷了，别告诉他", "我在看心理医生，要保密",
        "Don't tell anyone, but I'm pregnant", "off the record, I'm quitting on Monday",
        "今天天气不错",
        "我不希望同事知道我在面试新公司",
    ],
)  # fmt: skip
def test_who_says_what_is_to_be_kept_means_that(text: str) -> None:
    assert not reaches_back(text)
