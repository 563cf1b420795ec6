"""Plain hybrid retrieval, to compare with: BM25 and dense vectors, reciprocal rank fusion."""

import math
from collections import Counter, defaultdict

import numpy as np

from graph_memory.inference import Vectors
from graph_memory.text import terms

K1, B = 1.5, 0.75
RRF, DEPTH = 60, 100


class Plain:
    """One memory's messages, with a row of ``vectors`` each; ``None`` for words only."""

    def __init__(self, texts: list[str], vectors: Vectors | None) -> None:
        bags = [Counter(terms(text)) for text in texts]
        self._count = len(texts)
        self._vectors = vectors
        lengths = np.array([bag.total() for bag in bags], float)
        damping = K1 * (1 - B + B * lengths / max(1.0, lengths.mean() if len(bags) else 1.0))
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, bag in enumerate(bags):
            for term, frequency in bag.items():
                saturated = frequency * (K1 + 1) / (frequency + damping[number])
                postings[term].append((number, float(saturated)))
        self._postings = {
            term: (np.array([n for n, _ in entries]), np.array([s for _, s in entries]))
            for term, entries in postings.items()
        }

    def rank(self, question: str, vector: Vectors | None) -> list[int]:
        """Numbers of the texts, best first, as deep as the fusion goes."""
        scores = np.zeros(self._count)
        for term in set(terms(question)):
            if term in self._postings:
                numbers, saturated = self._postings[term]
                rarity = math.log(1 + (self._count - len(numbers) + 0.5) / (len(numbers) + 0.5))
                scores[numbers] += rarity * saturated
        legs = [scores]
        if self._vectors is not None and vector is not None:
            # As fast as one thread of BLAS, and not sometimes slower for having several.
            legs.append(np.vecdot(self._vectors, vector))
        orders = [np.argsort(-leg, kind="stable")[:DEPTH] for leg in legs]
        fused = np.zeros(self._count)
        for order in orders:
            fused[order] += 1 / (RRF + 1 + np.arange(len(order)))
        return [int(number) for number in np.argsort(-fused, kind="stable")[:DEPTH]]
