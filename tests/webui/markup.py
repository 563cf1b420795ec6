"""Reading pages as a browser's parser would, to see what is markup and what is text."""

from __future__ import annotations

from html.parser import HTMLParser

SEEN_TOGETHER = {"script", "style", "iframe", "object", "embed", "base", "math", "img", "mi"}
"""Elements that stored text tries to become; of these pages have ``script src`` only."""


class Markup(HTMLParser):
    """The elements and the text of a page.

    Attributes:
        tags: ``(name, attributes)`` of every element.
        text: All text, outside of elements' attributes.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

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
