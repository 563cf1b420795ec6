"""Scenes: conversations in Chinese and English, and what is remembered of them.

Every scene goes through the real path (messages, batches, prompt, answer, rows, index,
scope, recall) on a real journal in a temporary directory. What the language model answers
is **written by hand**, so this tests the pipeline and not how well a model extracts.
With OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL set, ``./dev scenes --live`` lets a
real model learn from the same conversations and scores what it remembers.

To add a scene, write it into the file of ``written/`` it belongs to, in the form that
``cast.py`` explains; ``stage.py`` says what each word means (answers that are malformed are in
``broken.txt``):

1. When, who says what, and what the model answers. It must be asked exactly that often.
2. **All** facts that stand afterwards, no others. ``says`` and ``alike`` hold for real models,
   too, so they name what any good answer has.
3. ``never``, ``nobody``: what nobody may know, what nothing may be called.
4. What somebody is reminded of, and what they must not be. Search goes by words here, so a
   question shares a word or two with what it asks for.

``./dev test tests/instruments/scenes -k NAME`` plays it; a failure lists all facts as they stand.
``play.py`` is the machinery, ``match.py`` compares exactly, ``score.py`` by keywords.
"""
