"""How a message asks to remember something, and what it says besides."""

import time

import pytest

from graph_memory.remember_requests import declined, request, without_request
from tests.cases import tabled


@tabled
def test_requests_to_remember(text: str, rest: str) -> None:
    assert request(text)
    assert without_request(text) == rest


@tabled
def test_talk_about_remembering(text: str) -> None:
    assert not request(text)
    assert without_request(text) == text


@tabled
def test_requests_not_to_keep_something(text: str, which: int | None) -> None:
    assert declined(text) == which


@pytest.mark.parametrize("piece", [" ", "，", " ?", " 好吗", " thanks", "吗", "a" + " " * 50])
def test_a_long_message_takes_no_time(piece: str) -> None:
    began = time.process_time()
    request("记住我" + piece * (4_000 // len(piece)) + "x")
    assert time.process_time() - began < 0.2
