"""Secrets are masked, and nothing else is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.redaction import MASK, redacted

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
]
PLAIN = [
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
    "piece", ["aws key ", "eyJ-", "a1-", "密码", "1 ", "//:_authToken=", "sk-"]
)
def test_hostile_text_takes_no_time(piece: str):
    began = time.process_time()
    redacted(piece * (20_000 // len(piece)))
    assert time.process_time() - began < 2
