"""Secrets are masked, and nothing else is."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.privacy.redaction import MASK, redacted, secrets

from ..cases import each_of, tabled

HEX = "0123456789abcdef" * 2
KEY = "-".join(("sk", "proj", "a1B2" * 8))
LINES = Path(__file__).with_name("secrets.txt").read_text("utf-8").splitlines()[1:]
SECRETS = [
    *(
        (re.sub("[⟦⟧]", "", line), line[line.index("⟦") + 1 : line.index("⟧")])
        for line in LINES
        if "⟦" in line
    ),
    *((text.replace("…", key), key) for text, key in (
        ("我的 key 是 …，别外传", KEY), ("export DEEPSEEK=…", KEY.replace("proj-", "")),
        ("token: …", "ghp_" + "A1b2C3d4" * 4 + "E5f6"), ("aws …", "AKIA" + "IOSFODNN7EXAMPLE"),
        ("bot …", "1234567890:" + "AAE" + "x9" * 16), ("密码是\n…", "abc12345"),
        ("AWS_SECRET_ACCESS_KEY=…", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"),
        ("token: …", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.abcDEF_-abc"),
        ("…", "github" + "_pat_" + "11ABCDEFG0" * 3), ("…", "hf" + "_" + "AbCdEfGhIj" * 3),
        ("…", "sess" + "-" + "AbCdEfGh12" * 3), ("api_key=…", HEX), ("我的key是 …", HEX),
        ("token是 …", HEX[:22]), ("密钥：…", HEX), ("client secret: …", HEX[:24]),
        ('"token": "…"', HEX[:30]),
    )),
]  # fmt: skip
PLAIN = [line for line in LINES if "⟦" not in line]


@each_of(SECRETS)
def test_a_secret_is_masked_and_what_is_around_it_stays(text: str, secret: str):
    assert secret in text
    assert redacted(text) == text.replace(secret, MASK)


@each_of(PLAIN)
def test_what_is_no_secret_stays(text: str):
    assert redacted(text) == text


def test_the_new_one_is_masked_beside_the_old():
    assert redacted("密码从123456改成了654321") == f"密码从{MASK}改成了{MASK}"
    told = "the old password was hunter1 and the new one is hunter2"
    assert redacted(told) == f"the old password was {MASK} and the new one is {MASK}"


def test_the_next_line_tells_a_password_only_where_this_one_ends_with_it():
    assert redacted("密码呢\nwi-fi 坏了") == "密码呢\nwi-fi 坏了"
    assert redacted("密码\nabc12345") == f"密码\n{MASK}"


def test_a_private_key_goes_as_a_whole():
    begin, end = ("-----" + word + " RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))
    assert redacted(f"看：\n{begin}\nMIIE\nabc\n{end}\n好了") == f"看：\n{MASK}\n好了"
    assert redacted(f"{begin}\nMIIE") == MASK


@given(st.text(alphabet="密码是: sk-aB1=.4X\n验证/", max_size=200))
def test_redacting_again_changes_nothing(text: str):
    assert redacted(redacted(text)) == redacted(text)


@tabled
def test_hostile_text_takes_no_time(piece: str):
    began = time.process_time()
    redacted(piece * (20_000 // len(piece)))
    assert time.process_time() - began < 2


@pytest.mark.parametrize("before", range(1_470, 2_050, 29))
def test_a_key_far_along_a_line_is_one(before: int):
    key = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    assert key not in redacted(f"{'x ' * (before // 2)}{key} y")


def test_the_tables_are_long_enough() -> None:
    assert len(SECRETS) >= 60
    assert len(PLAIN) >= 60


@given(st.sampled_from(SECRETS), st.sampled_from(PLAIN), st.sampled_from(["\n", "。", " "]))
def test_what_is_masked_is_nowhere_in_what_is_left(told, beside, between):
    left = redacted(f"{beside}{between}{told[0]}")
    assert told[1] not in left
    assert redacted(left) == left
    assert told[1] in "".join(secrets(told[0]))


@pytest.mark.parametrize("said", ["密码是", "密码是x", "口令：一"])
def test_what_is_said_over_and_over_holds_nobody_up(said: str) -> None:
    redacted("密码是 hunter2")  # so that the patterns are there
    began = time.process_time()
    redacted((said * 3_000)[:8_000])
    assert time.process_time() - began < 0.15


def test_what_was_told_before_is_masked_where_it_is_repeated() -> None:
    assert redacted("好的，记住了 hunter2", secrets("密码是 hunter2")) == f"好的，记住了 {MASK}"
