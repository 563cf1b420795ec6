"""A made-up memory of many users, and questions about it."""

import random
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from graph_memory.inference import Vectors
from graph_memory.model import Fact, Message, Session, session_of, stable_id
from graph_memory.retention import initial_half_life
from tests.scripted import HashEmbedder

PLATFORM = "bench"
BEGINNING = 1_700_000_000.0
LINE, PAUSE = 30.0, 700.0
"""Seconds from one line to the next, and between conversations."""
ZH_WORDS, EN_WORDS = map(
    str.split, Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
)


class RandomEmbedder(HashEmbedder):
    """Gives every text a random direction of ``width`` dimensions at no cost."""

    def __init__(self, width: int) -> None:
        self.name = f"bench-{width}"
        self.width = width

    def vector(self, text: str) -> Vectors:
        random_bits = np.random.default_rng(zlib.crc32(text.encode()))
        found = random_bits.standard_normal(self.width).astype(np.float32)
        return found / np.linalg.norm(found)


class Workload:
    """Items of ``users`` × ``personas`` private chats: messages and facts in turn."""

    def __init__(self, items: int, users: int = 50, personas: int = 5) -> None:
        self._random = random.Random(7)
        self.sessions = [
            session_of(PLATFORM, "", str(user), f"persona{persona}")
            for user in range(users)
            for persona in range(personas)
        ]
        self._items = items

    def messages(self) -> Iterator[tuple[Session, Message]]:
        """Half of the items: conversations of a few messages, with pauses between them."""
        number, at = 0, BEGINNING
        while number < self._items // 2:
            session = self._random.choice(self.sessions)
            at += PAUSE
            for _ in range(min(self._random.randint(1, 11), self._items // 2 - number)):
                number, at = number + 1, at + LINE
                yield session, Message(0, session.id, session.owner, "我", self.sentence(), at)

    def facts(self, messages: Sequence[Message]) -> Iterator[Fact]:
        """The other half, each resting on one of the messages, which are stored by now."""
        owners = {session.id: session.owner for session in self.sessions}
        for number in range(self._items - self._items // 2):
            said = self._random.choice(messages)
            speaker = owners[said.session]
            yield Fact(
                stable_id("f", str(number)), said.session,
                speaker if number % 2 else stable_id("e", str(number % 500)), "other",
                stable_id("e", str(number * 7 % 500)), self.sentence(), speaker, said.at, said.at,
                said.at, initial_half_life(0.5), evidence=(said.id,),
            )  # fmt: skip

    def sentence(self, words: int = 9) -> str:
        """A sentence of random words, Chinese or English."""
        chinese = self._random.random() < 0.6
        chosen = self._random.choices(ZH_WORDS if chinese else EN_WORDS, k=words)
        chosen.append(str(self._random.randrange(2_000)))
        return ("" if chinese else " ").join(chosen)

    def questions(self, count: int) -> list[tuple[Session, str]]:
        """Who asks what."""
        chosen = self._random.choices(self.sessions, k=count)
        return [(session, f"{self.sentence(4)}?") for session in chosen]
