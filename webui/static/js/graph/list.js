// The list beside the picture: the same nodes and facts, for every input device.

const SVG = "http://www.w3.org/2000/svg";
const PRESENCE = new Set(["participated_in", "mentioned_in"]);

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export function shape(name, outlines) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "shape");
  svg.setAttribute("data-shape", name);
  svg.setAttribute("viewBox", "-12 -12 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", outlines[name] ?? outlines.topic);
  svg.append(path);
  return svg;
}

export class List extends EventTarget {
  constructor(element, model, { outlines, words, types, predicates }) {
    super();
    Object.assign(this, { element, model, outlines, words, types, predicates });
    element.addEventListener("keydown", (event) => this.#step(event));
  }

  draw(selected) {
    const focused = document.activeElement?.closest?.("#neighbours [data-key]")?.dataset.key;
    const top = this.element.scrollTop;
    this.element.replaceChildren(
      ...this.model.ordered().map(({ node, depth }) => this.#item(node, depth, selected)),
    );
    this.element.scrollTop = top;
    if (focused !== undefined) this.#find(focused)?.focus({ preventScroll: true });
  }

  reveal(id) {
    this.#find(`node ${id}`)?.closest("li").scrollIntoView({ block: "nearest" });
  }

  #find(key) {
    return this.element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  }

  #tell(type, id) {
    this.dispatchEvent(new CustomEvent(type, { detail: id }));
  }

  #item(node, depth, selected) {
    const isSelected = node.id === selected;
    const button = make("button", { type: "button", className: "neighbour" },
      shape(node.shape, this.outlines),
      make("span", { className: "neighbour-name" }, make("bdi", { textContent: node.name })),
      make("span", { className: "neighbour-note", textContent: this.#note(node) }),
    );
    button.dataset.key = `node ${node.id}`;
    button.setAttribute("aria-expanded", String(isSelected));
    button.addEventListener("click", () => this.#tell("select", isSelected ? null : node.id));
    const item = make("li", {}, button);
    item.classList.toggle("selected", isSelected);
    item.classList.toggle("inner", depth > 0);
    if (isSelected) item.append(this.#inspector(node));
    return item;
  }

  #note(node) {
    if (node.id === this.model.centre) return this.types[node.shape] ?? "";
    const joined = this.model.edgesOf(node.id)
      .filter((edge) => edge.source === this.model.centre || edge.target === this.model.centre)
      .map((edge) => this.predicates[edge.predicate] ?? edge.predicate);
    const kinds = [...new Set(joined)];
    if (kinds.length === 0) return this.types[node.shape] ?? "";
    return kinds.length > 2 ? `${kinds.slice(0, 2).join(" · ")} …` : kinds.join(" · ");
  }

  #inspector(node) {
    const isCentre = node.id === this.model.centre;
    const facts = this.model.edgesOf(node.id).map((edge) => this.#fact(edge));
    const actions = make("div", { className: "actions" });
    if (!isCentre) {
      const open = this.model.expanded.has(node.id);
      if (open || this.model.hasMore(node.id)) {
        const button = make("button", {
          type: "button",
          textContent: open ? this.words.collapse : this.words.expand,
        });
        button.dataset.key = `toggle ${node.id}`;
        button.addEventListener("click", () => this.#tell(open ? "collapse" : "expand", node.id));
        actions.append(button);
      }
      const address = `/graph?${new URLSearchParams({ node: node.id })}`;
      actions.append(make("a", { className: "button", href: address, textContent: this.words.centre }));
    }
    const list = make("ul", {}, ...(facts.length ? facts : [make("li", { textContent: this.words.nothing })]));
    return make("div", { className: "inspector" }, list, actions);
  }

  #fact(edge) {
    const kind = this.predicates[edge.predicate] ?? edge.predicate;
    if (PRESENCE.has(edge.predicate)) return make("li", { textContent: `${kind} ×${edge.times}` });
    const link = make("a", { href: `/memories/${encodeURIComponent(edge.id)}` },
      make("bdi", { textContent: edge.statement || kind }));
    const item = make("li", {}, link);
    if (!edge.current) {
      item.className = "ended";
      item.append(make("small", { textContent: this.words.ended }));
    }
    return item;
  }

  #step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const here = event.target.closest("li")?.querySelector(".neighbour");
    if (!by || !here) return;
    const all = [...this.element.querySelectorAll(".neighbour")];
    const next = all[all.indexOf(here) + by];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }
}
