"""Secrets are masked, and nothing else is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.privacy.redaction import MASK, redacted, secrets

HEX = "0123456789abcdef" * 2
KEY = "-".join(("sk", "proj", "a1B2" * 8))
SECRETS = [
    (f"我的 key 是 {KEY}，别外传", KEY),
    (f"export DEEPSEEK={KEY.replace('proj-', '')}", KEY.replace("proj-", "")),
    ("token: " + "ghp_" + "A1b2C3d4" * 4 + "E5f6", "ghp_" + "A1b2C3d4" * 4 + "E5f6"),
    ("aws " + "AKIA" + "IOSFODNN7EXAMPLE", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("bot 1234567890:" + "AAE" + "x9" * 16, "1234567890:" + "AAE" + "x9" * 16),
    ("家里wifi密码是 xiaoyu8888 哦", "xiaoyu8888"),
    ("服务器密码：Qwerty!23", "Qwerty!23"),
    ("密码改成了hunter2", "hunter2"),
    ("my password is hunter2", "hunter2"),
    ("pwd=s3cr3t!x", "s3cr3t!x"),
    ("验证码 482913", "482913"),
    ("身份证 11010519491231002X", "11010519491231002X"),
    ("卡号 6222 0200 0000 0000 018 到账", "6222 0200 0000 0000 018"),
    ("4111-1111-1111-1111", "4111-1111-1111-1111"),
    ("密码是\nabc12345", "abc12345"),
    ("密码没变，还是abc12345", "abc12345"),
    ("密码：hunter", "hunter"),
    ("ｗｉｆｉ密码是ａｂｃ１２３４５", "ａｂｃ１２３４５"),
    ("卡号４１１１１１１１１１１１１１１１", "４１１１１１１１１１１１１１１１"),
    ("身份证１１０１０５１９４９１２３１００２Ｘ号", "１１０１０５１９４９１２３１００２Ｘ"),
    ("4111.1111.1111.1111", "4111.1111.1111.1111"),
    ("4111_1111_1111_1111", "4111_1111_1111_1111"),
    ("4111  1111  1111  1111", "4111  1111  1111  1111"),
    ("4111111111111111是我的卡", "4111111111111111"),
    ("4111111111111111abc", "4111111111111111"),
    ("3782 822463 10005", "3782 822463 10005"),
    ("110105 19491231 002X", "110105 19491231 002X"),
    ("老身份证 110105491231002", "110105491231002"),
    ("my password is hunter", "hunter"),
    ("password = swordfish", "swordfish"),
    ("Password: correcthorse", "correcthorse"),
    ("the passphrase is opensesame1", "opensesame1"),
    ("PIN码是4711", "4711"),
    ("取款码4711", "4711"),
    ("取款码：4711", "4711"),
    ("【支付宝】384756（登录验证码）", "384756"),
    ("384756是你的验证码", "384756"),
    ("您的验证码为384756，五分钟内有效", "384756"),
    ("校验码 1234", "1234"),
    ("动态密码是 889900", "889900"),
    ("your code is 384756", "384756"),
    ("Your verification code: 384756", "384756"),
    ("my PIN is 4711", "4711"),
    ("384756 is your login code", "384756"),
    ("OTP 384756", "384756"),
    ("github" + "_pat_" + "11ABCDEFG0" * 3, "github" + "_pat_" + "11ABCDEFG0" * 3),
    ("hf" + "_" + "AbCdEfGhIj" * 3, "hf" + "_" + "AbCdEfGhIj" * 3),
    ("sess" + "-" + "AbCdEfGh12" * 3, "sess" + "-" + "AbCdEfGh12" * 3),
    (f"api_key={HEX}", HEX),
    (f"我的key是 {HEX}", HEX),
    (f"token是 {HEX[:22]}", HEX[:22]),
    (f"密钥：{HEX}", HEX),
    (f"client secret: {HEX[:24]}", HEX[:24]),
    (f'"token": "{HEX[:30]}"', HEX[:30]),
    ("https://bob:passw0rd@example.com/x", "passw0rd"),
    ("postgres://app:s3cret@db:5432/x", "s3cret"),
    ("口令：芝麻开门Open1234", "Open1234"),
    ("登录口令 Admin@123", "Admin@123"),
    ("密码换成了Tiger_2024!", "Tiger_2024"),
    ("密码“abcd1234”", "abcd1234"),
    ("5555 5555 5555 4444", "5555 5555 5555 4444"),
    ("6222-0200-0000-0000-018", "6222-0200-0000-0000-018"),
    ("密码是四七一九零二", "四七一九零二"),
    ("取款码：四七一九〇二哈哈", "四七一九〇二"),
    ("PIN码是四 七 幺 九", "四 七 幺 九"),
    ("验证码四、八、二、九、一、三", "四、八、二、九、一、三"),
    ("my PIN is four seven one nine ok", "four seven one nine"),
    ("password is Four-Seven-One-Nine", "Four-Seven-One-Nine"),
    ("your code is oh one two three, four five", "oh one two three, four five"),
    ("ｐｉｎ码是四七一九零二", "四七一九零二"),
]  # fmt: skip
PLAIN = [
    "密码三四个月一换", "一二三四五六七", "我有一二三四个朋友", "one two three four, go!",
    "二〇二四年", "someone knows the password", "验证码发了两三次",
    "我的手机号是138 1234 5678", "座机 010-62345678", "QQ 1234567890", "ISBN 978-7-302-51264-0",
    "ISBN 9787302512640", "订单号 6222020200112233445", "快递单号 SF1234567890123",
    "价格 12345678.90 元",
    "版本 3.12.1", "2024.10.10", "20241010123456", "192.168.1.100", "2024-10-10 10:10:10.123456",
    "密码忘了", "密码是什么", "密码在我脑子里", "验证码收不到", "验证码收不到 please help",
    "验证码发了吗",
    "验证码 app 打不开", "密码错误", "别把密码告诉别人", "密码学 cryptography 很难",
    "口令红包", "密码本 notebook",
    "2024年验证码改版了", "the password is wrong", "your password is expired",
    "the password is not set",
    "password is required", "the password is the same", "what is your password",
    "forgot my password",
    "a password manager", "code review at 3", "area code 0755 is Shenzhen",
    "my locker code is 0417", "the code is on GitHub",
    "pin it to the board", "key moments of 2024", "token economics", "secret santa on 20241224",
    "the key is under the doormat", "commit 0123456789abcdef0123456789abcdef01234567",
    "md5 0123456789abcdef0123456789abcdef", "https://example.com:8080/path",
    "https://user@example.com",
    "时间 12:30@公司", "a@b.com", "3.1415926535897932384626",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    "身高175体重60", "110120130140150", "999999999999999", "0000 0000 0000 0000",
    "1234 5678 9012 3456",
    "群号 987654321", "第384756条", "门牌 4711", "航班 CA1234 10:25", "学号 2021012345678",
    "今天天气不错", "我的手机号是13812345678", "密码是多少来着", "the password is wrong.",
    "订单号 20260501123456789", "https://www.bilibili.com/video/BV1xx411c7mD", "密码学很有意思",
    "2026-05-01 12:00 到 2026-05-03 18:00", "圆周率 3.14159265358979", "我妈1965-03-04生日",
    "commit 324c4fa", "她说 supercalifragilisticexpialidocious",
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_masked_and_what_is_around_it_stays(text: str, secret: str):
    assert secret in text
    assert redacted(text) == text.replace(secret, MASK)


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text: str):
    assert redacted(text) == text


def test_a_private_key_goes_as_a_whole():
    begin, end = ("-----" + word + " RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))
    assert redacted(f"看：\n{begin}\nMIIE\nabc\n{end}\n好了") == f"看：\n{MASK}\n好了"
    assert redacted(f"{begin}\nMIIE") == MASK


@given(st.text(alphabet="密码是: sk-aB1=.4X\n验证/", max_size=200))
def test_redacting_again_changes_nothing(text: str):
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize(
    "piece",
    ["aws key ", "eyJ-", "one-", "pin one", "一", "a1-", "密码", "1 ", "//:_authToken=", "sk-"],
)
def test_hostile_text_takes_no_time(piece: str):
    began = time.process_time()
    redacted(piece * (20_000 // len(piece)))
    assert time.process_time() - began < 2


def test_the_tables_are_long_enough() -> None:
    assert len(SECRETS) >= 60
    assert len(PLAIN) >= 60


@given(st.sampled_from(SECRETS), st.sampled_from(PLAIN), st.sampled_from(["\n", "。", " "]))
def test_what_is_masked_is_nowhere_in_what_is_left(
    told: tuple[str, str], beside: str, between: str
) -> None:
    left = redacted(f"{beside}{between}{told[0]}")
    assert told[1] not in left
    assert redacted(left) == left
    assert told[1] in "".join(secrets(told[0]))


def test_what_was_told_before_is_masked_where_it_is_repeated() -> None:
    assert redacted("好的，记住了 hunter2", secrets("密码是 hunter2")) == f"好的，记住了 {MASK}"
