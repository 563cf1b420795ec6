"""Numbers of recall that were chosen by hand, in one place.

Preferences come in three strengths and counts in two sizes, since finer ones changed no source by
more than a hundredth. ``./dev eval --leave-out`` tries others. Limits that only save time are where
they are used.
"""

from __future__ import annotations

K1, B = 1.2, 0.75
"""Saturation of term frequency, and share of document length, of BM25; the usual ones (Robertson,
1994)."""
WORDS = 0.4
"""Share of words in relevance; meaning has the rest."""
WEAK, MINOR, STRONG = 0.1, 0.3, 0.5
"""Strengths, as shares of the most relevance there is: of what breaks a tie, of what is beside
the point, of what is asked for. The second is also what the best of a conversation lend its other
lines, and what those lose that are less likely meant: faded, replaced, another's, only asked."""
FEW, SEVERAL = 3, 8
"""Counts of best things that are looked at: to go on from, and to compare."""
ALIKE, SAME = 0.6, 0.9
"""Likeness, as cosine or share of common terms, from which two texts are alike, say the same."""
CLOSE = 0.15
"""Cosine above the model's floor that is enough evidence by itself."""
COVERED, COVERED_BLINDLY = 0.24, 0.088
"""Share of the question's words that is, with and without vectors."""
BESIDE = 0.5
"""Evidence that is enough for an earnest question, or beside another one that has 1."""
SHORT = 150
"""Tokens up to which a reminder takes what is fair, be there little evidence."""
FAIR, NEAR = 0.5, 0.7
"""Shares of the best score that a memory of the first few needs, and one after them."""
EVIDENCE = 0.2
"""Relevance that evidence of 1 adds, whatever the others have."""
LONG = 8
"""Terms of a text that has half of the evidence by its length; the longest has 1."""
LEAST = 200
"""Documents assumed, at least, when judging how rare a term is, or what is usual among them."""
BRIEF = 40
"""Characters of a sentence that may be small talk, or a question without its mark; tokens of a
memory that may be repeated."""
LATELY = 30 * 86_400.0
"""Seconds after a time in which it still is talked about, and a plan that was settled is news."""
