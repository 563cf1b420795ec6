"""One floor that means the same for every model and language."""

from hashlib import blake2b

import numpy as np
import pytest

from graph_memory.embedding import calibrate
from graph_memory.embedding.local_models import ThreadedEmbedder
from graph_memory.embedding.vectors import MESSAGES, STATEMENTS, VERSION
from graph_memory.errors import EmbeddingError, StorageError
from graph_memory.inference import Vectors
from graph_memory.store import Journal
from graph_memory.text import text_hash

from ..cases import tabled
from .conftest import Pairs, compare

pytestmark = pytest.mark.slow


class Marked:
    """Bags of characters, marked as questions or passages, and by language."""

    name = "marked"
    parallel = True

    def __init__(self, width: int = 96) -> None:
        self.width = width
        self.asked = 0

    def vector(self, text: str, side: int) -> Vectors:
        row = np.zeros(self.width, np.float32)
        for character in text:
            row[3 + ord(character) % (self.width - 3)] += 1
        row /= np.linalg.norm(row)
        row[side] = 4.0
        row[2] = 3.0 if text.isascii() else -3.0
        return row

    async def questions(self, texts: list[str]) -> Vectors:
        self.asked += len(texts)
        return np.stack([self.vector(text, 0) for text in texts])

    async def passages(self, texts: list[str]) -> Vectors:
        return np.stack([self.vector(text, 1) for text in texts])

    async def close(self) -> None:
        self.width = 0


async def test_questions_nobody_waits_for_are_on_the_scale_of_questions():
    model, texts = await calibrate(Marked()), ["晚上吃什么", "what's on tonight"]
    found = await model.questions(texts)
    assert np.allclose(found, [await model.query(text) for text in texts], atol=1e-5)
    assert not np.allclose(found, await model.passages(texts), atol=1e-3)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_the_bundled_models_find_the_right_fact(language, nano, use, smoke):
    for model, first, related in ((nano, 0.95, 0.98), (use, 0.93, 0.95)):
        found = await compare(model, smoke[language], smoke[language])
        assert found.first >= first
        assert (found.related > model.floor).mean() >= related
        assert (found.unrelated < model.floor).mean() >= 0.9


async def test_everyday_messages_are_below_the_floor(nano, smoke):
    half = len(MESSAGES) // 2
    zh, en = MESSAGES[:half], MESSAGES[half:]
    for pairs, messages in ((smoke["zh"], zh), (smoke["en"], en)):
        assert ((await compare(nano, Pairs([], messages), pairs)).table < nano.floor).mean() >= 0.95


async def test_no_one_floor_would_do_without_calibration(nano, smoke):
    """The reason for all this; if it fails, the model needs no calibration any more."""
    raw = nano._raw
    unrelated, related = [], []
    for pairs, found in ((smoke["zh"], unrelated), (smoke["en"], related)):
        facts = await raw.passages(pairs.facts[:12])
        cosines = await raw.questions(pairs.questions[:12]) @ facts.T
        own = np.eye(12, dtype=bool)
        found += cosines[own if found is related else ~own].tolist()
    assert np.median(unrelated) > np.quantile(related, 0.25)


@pytest.mark.parametrize(("asked", "told"), [("en", "zh"), ("zh", "en")])
async def test_a_question_finds_facts_of_the_other_language(asked, told, nano, smoke):
    assert (await compare(nano, smoke[asked], smoke[told])).first >= 0.65


async def test_marks_of_side_and_language_are_taken_out():
    calibrated = await calibrate(Marked())
    question = await calibrated.query("小林吃花生会过敏")
    same, other = await calibrated.passages(["小林吃花生会过敏", "zzzz qqqq"])
    assert question @ same > 0.95
    assert abs(question @ other) < 0.5
    assert 0 < calibrated.floor < 0.9


async def test_vectors_have_length_one_and_their_width_is_watched():
    raw = Marked()
    calibrated = await calibrate(raw)
    rows = await calibrated.passages(["你好", "hello", "…"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert (await calibrated.passages([])).shape == (0, 96)
    raw.width = 64
    for ask in (calibrated.query, calibrated.passages, calibrated.questions):
        with pytest.raises(EmbeddingError, match="width 64 after 96"):
            await ask("你好" if ask == calibrated.query else ["你好"])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
async def test_a_vector_without_direction_is_an_error(bad):
    raw = Marked()
    calibrated = await calibrate(raw)
    raw.vector = lambda *_: np.full(96, bad, np.float32)  # type: ignore[method-assign]
    for ask in (
        calibrated.query("在吗"),
        calibrated.passages(["在吗"]),
        calibrated.questions(["在"]),
    ):
        with pytest.raises(EmbeddingError):
            await ask


async def test_it_is_the_same_every_time_and_closes_the_model():
    raw = Marked()
    first, second = await calibrate(raw), await calibrate(raw)
    assert first.name == second.name == f"marked~{VERSION}"
    assert first.floor == second.floor
    assert np.array_equal(await first.query("你好"), await second.query("你好"))
    await first.close()
    assert raw.width == 0


async def test_part_of_it_that_another_model_left_is_no_part_of_it(journal: Journal):
    """Killed on the way, and then a model of another width goes by the name."""
    hashes = [text_hash(text) for text in STATEMENTS[:8]]
    left = dict(zip(hashes, await Marked().passages(STATEMENTS[:8]), strict=True))
    await journal.put_vectors("marked told", left)
    assert (await calibrate(Marked(width=80), journal)).width == 80


@tabled
async def test_a_useless_model_is_refused(asked, told, more, why):
    embedder = ThreadedEmbedder(
        "没用", lambda texts: [asked] * len(texts), lambda texts: [told] * (len(texts) + more)
    )
    with pytest.raises(EmbeddingError, match=f"没用.*{why}"):
        await calibrate(embedder)
    await embedder.close()


def test_the_texts_have_two_equal_halves_and_no_sentence_twice():
    for texts in (STATEMENTS, MESSAGES):
        half = len(texts) // 2
        assert len(texts) == 2 * half
        assert all(text.isascii() for text in texts[half:])
        assert not any(text.isascii() for text in texts[:half])
    everything = STATEMENTS + MESSAGES
    assert len(set(everything)) == len(everything)


def test_the_texts_share_no_sentence_with_what_they_are_judged_by(smoke: dict[str, Pairs]):
    judged = {text for pairs in smoke.values() for text in pairs.facts + pairs.questions}
    assert not judged & {*STATEMENTS, *MESSAGES}


def test_other_texts_need_another_version():
    """Stored vectors depend on them: change the version, then these two together."""
    digest = blake2b("\n".join(STATEMENTS + MESSAGES).encode(), digest_size=6).hexdigest()
    assert (VERSION, digest) == (1, "0c74f3c96292")


async def test_with_a_store_it_is_measured_once(journal: Journal):
    first, again = Marked(), Marked()
    measured = await calibrate(first, store=journal)
    kept = await calibrate(again, store=journal)
    assert first.asked > 0 == again.asked
    assert kept.floor == measured.floor
    assert np.array_equal(await kept.query("你好"), await measured.query("你好"))


async def test_a_store_that_fails_is_done_without():
    class Broken:
        async def vectors(self, *_: object) -> dict[bytes, Vectors]:
            raise StorageError("the disk is full")

        put_vectors = vectors

    raw = Marked()
    assert (await calibrate(raw, store=Broken())).floor > 0
    assert raw.asked == len(MESSAGES)
