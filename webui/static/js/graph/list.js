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
  constructor(element, model, { outlines, words, types, predicates, states }) {
    super();
    Object.assign(this, { element, model, outlines, words, types, predicates, states });
    element.addEventListener("keydown", (event) => this.#step(event));
    for (const [type, on] of [["focusin", true], ["focusout", false], ["pointerover", true], ["pointerout", false]]) {
      element.addEventListener(type, (event) => {
        const edge = event.target.closest?.("[data-edge]")?.dataset.edge;
        if (edge !== undefined) this.dispatchEvent(new CustomEvent("light", { detail: { edge, on } }));
      });
    }
  }

  draw(selected) {
    const focused = document.activeElement?.closest?.("#neighbours [data-key]")?.dataset.key;
    const top = this.element.scrollTop;
    this.element.replaceChildren(
      ...this.model.ordered().map(({ node, depth }) => this.#item(node, depth, selected)),
      ...this.#rest(this.model.centre),
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

  // Asks for neighbours that are not shown.
  #rest(id) {
    const left = this.model.rest(id);
    if (left === 0) return [];
    return [make("li", { className: "rest" }, this.#more(id, left))];
  }

  #more(id, left) {
    const text = this.words.more.replace("{count}", String(left));
    const button = make("button", { type: "button", className: "more-button", textContent: text });
    button.dataset.key = `more ${id}`;
    button.addEventListener("click", () => this.#tell("more", id));
    return button;
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
    const open = !isCentre && this.model.expanded.has(node.id);
    if (open || this.model.hasMore(node.id)) {
      const button = make("button", {
        type: "button",
        textContent: open ? this.words.collapse : this.words.expand,
      });
      button.dataset.key = `toggle ${node.id}`;
      button.addEventListener("click", () => this.#tell(open ? "collapse" : "expand", node.id));
      actions.append(button);
      const left = open ? this.model.rest(node.id) : 0;
      if (left > 0) actions.append(this.#more(node.id, left));
    }
    if (!isCentre) {
      const address = `/graph?${new URLSearchParams({ node: node.id })}`;
      actions.append(make("a", { className: "button", href: address, textContent: this.words.centre }));
    }
    if (node.kind !== "session") {
      const page = `/node?${new URLSearchParams({ id: node.id })}`;
      actions.append(make("a", { className: "button", href: page, textContent: this.words.page }));
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
    item.dataset.edge = edge.id;
    if (!edge.current) {
      item.className = "ended";
      item.append(make("small", { textContent: this.states[edge.state] ?? edge.state }));
    }
    return item;
  }

  #step(event) {
    const here = event.target.closest("#neighbours > li")?.querySelector(".neighbour, .more-button");
    if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...this.element.querySelectorAll(".neighbour, .rest > .more-button")];
    const place = all.indexOf(here);
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      all[next]?.focus();
      return;
    }
    const turn = { ArrowRight: "expand", ArrowLeft: "collapse" }[event.key];
    const id = here.dataset.key.replace(/^node /, "");
    if (!turn || !this.model.nodes.has(id)) return;
    event.preventDefault();
    const isOpen = id !== this.model.centre && this.model.expanded.has(id);
    const fits = turn === "expand" ? this.model.hasMore(id) : isOpen;
    if (fits) this.#tell(turn, id);
  }
}
