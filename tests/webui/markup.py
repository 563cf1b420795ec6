"""Reading pages as a browser's parser would, to see what is markup and what is text."""

from html.parser import HTMLParser

SEEN_TOGETHER = {"script", "style", "iframe", "object", "embed", "base", "math", "img", "mi"}
"""Elements that stored text tries to become; of these pages have ``script src`` only."""
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
INTERACTIVE = {"a", "button", "details", "iframe", "input", "label", "select", "textarea"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
BLOCKS = HEADINGS | {
    "address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figure",
    "footer", "form", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul",
}  # fmt: skip
PHRASING = HEADINGS | {
    "b", "bdi", "button", "code", "em", "label", "p", "pre", "small", "span", "strong",
}  # fmt: skip
"""Elements that hold text and what stands in text."""
ONLY_IN = {
    "li": {"ul", "ol"},
    **{key: {"dl", "div"} for key in ("dt", "dd")},
    **{key: {"tr"} for key in ("td", "th")},
    **{key: {"table"} for key in ("thead", "tbody", "tfoot")},
    "tr": {"table", "thead", "tbody", "tfoot"},
    "option": {"select", "datalist", "optgroup"},
    "summary": {"details"},
}
HOLDS_ONLY = {"ul": ("li",), "ol": ("li",), "select": ("option", "optgroup"), "tr": ("td", "th")}


class Markup(HTMLParser):
    """The elements and the text of a page.

    Attributes:
        tags: ``(name, attributes)`` of every element.
        text: All text, outside of elements' attributes.
        misplaced: Elements where HTML has no place for them: a parser moves them elsewhere.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._text: list[str] = []
        self.misplaced: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        self.misplaced += [f"<{tag}> is not closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append((tag, found))
        if found.get("type") != "hidden" and "svg" not in self._open:
            self.misplaced += [f"<{tag} {found}> in {each}" for each in self._wrong_around(tag)]

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.misplaced.append(f"</{tag}> in {self._open[-1:]}")
            while tag in self._open and self._open.pop() != tag:
                pass

    def _wrong_around(self, tag: str) -> list[str]:
        """The elements around an element that may not hold it."""
        above, parent = self._open, (self._open or [""])[-1]
        wrong = [each for each in above if tag in BLOCKS and each in PHRASING]
        if tag in INTERACTIVE:
            wrong += [each for each in above if each in ("a", "button")]
        wrong += [each for each in above if each == tag and tag in ("form", "label")]
        if parent not in ONLY_IN.get(tag, (parent,)) or tag not in HOLDS_ONLY.get(parent, (tag,)):
            wrong.append(parent)
        return wrong

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._text).split())

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        """Attributes of the elements of a kind that have these attributes."""
        wanted = attributes.items()
        return [found for name, found in self.tags if name == tag and wanted <= found.items()]

    def tags_selected(self) -> list[dict[str, str]]:
        """Attributes of the options that are chosen."""
        return [found for name, found in self.tags if name == "option" and "selected" in found]

    def forms(self) -> list[tuple[str, set[str]]]:
        """Where each form is sent to, and what its fields are called."""
        found: list[tuple[str, set[str]]] = []
        for tag, attributes in self.tags:
            if tag == "form":
                found.append((attributes.get("action", ""), set()))
            elif found and attributes.get("name"):
                found[-1][1].add(attributes["name"])
        return found

    def posts(self) -> set[tuple[str, bool]]:
        """Where the forms that change something are sent to, and whether with the token."""
        changing = [tag.get("method") == "post" for tag in self.all("form")]
        return {
            (action, "csrf" in names)
            for (action, names), changes in zip(self.forms(), changing, strict=True)
            if changes
        }

    def alive(self) -> list[str]:
        """What would run, or be forbidden by the content security policy."""
        found = []
        for tag, attributes in self.tags:
            external = tag == "script" and attributes.get("src", "").startswith("/static/")
            if tag in SEEN_TOGETHER and not external:
                found.append(f"<{tag}>")
            found += [f"{tag}[{name}]" for name in attributes if name[:2] == "on"]
            found += [f"{tag}[style]" for name in attributes if name == "style"]
            for name in ("href", "src", "action", "formaction"):
                value = attributes.get(name, "/")
                if value and not value.startswith(("/", "?", "#")):
                    found.append(f"{tag}[{name}={value}]")
                if value.startswith("//"):
                    found.append(f"{tag}[{name}={value}]")
        return found
