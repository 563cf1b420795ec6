"""Scenes: conversations in Chinese and English, and what is remembered of them.

Every scene goes through the real path (messages, batches, prompt, answer, rows, index,
scope, recall) on a real journal in a temporary directory. What the language model answers
is **written by hand**, so this tests the pipeline and not how well a model extracts.
With OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL set, ``./dev scenes --live`` lets a
real model learn from the same conversations and scores what it remembers.

To add a scene, write a ``Scene`` in the module it belongs to (``zh_*.py``, ``en_*.py``,
``hostile.py``; ``broken.py`` is for answers that are malformed) from the words of
``stage.py``, which says what each of them means:

1. ``Sitting``: when, who says what, and what the model answers: ``save(fact(...),
   thing(...))`` with the labels of the prompt (``U1`` is who speaks first, ``E1`` what the
   answer itself introduces, numbers of messages as text), ``NOTHING``, any text, or
   ``None`` for a model that is down. It must be called exactly that often. Numbers and
   labels of what was remembered before are not written out: ``Shown("爱吃辣")`` and
   ``Label("豆包")`` find them in the prompt, and fail if they were not shown.
2. ``Expected``: **all** facts that stand afterwards, no others. ``says`` and ``alike``
   hold for real models, too, so they name what any good answer has.
3. ``never``, ``nobody``: what nobody may know, what nothing may be called.
4. ``Ask``: what somebody is reminded of, and what they must not be. Search goes by words
   here, so a question shares a word or two with what it asks for.

``./dev test tests/instruments/scenes -k NAME`` plays it; a failure lists all facts as they stand.
``play.py`` is the machinery, ``match.py`` compares exactly, ``score.py`` by keywords.
"""
