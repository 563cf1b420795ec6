// The list beside the picture: the same nodes and facts, for every input device. Of thousands
// it shows a page at a time.

const SVG = "http://www.w3.org/2000/svg";
const PAGE = 100; // nodes that are listed at once
const FACTS = 60; // facts of one node that are listed
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
    this.length = PAGE;
    this.start = null; // id of the node at which a way begins
    this.pressed = element; // what was clicked last
    element.addEventListener("keydown", (event) => this.#step(event));
    element.addEventListener("click", (event) => this.#once(event), true);
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
    const all = this.model.ordered();
    const page = all.slice(0, this.length);
    // What was picked far down stands first.
    const far = all.slice(this.length).filter(({ node }) => node.id === selected);
    this.element.replaceChildren(
      ...[...far, ...page].map(({ node, depth }) => this.#item(node, depth, selected)),
      ...(all.length > this.length ? [this.#further(all.length - this.length, selected)] : []),
      ...(this.model.centre === null ? [] : this.#rest(this.model.centre)),
    );
    this.element.scrollTop = top;
    if (focused !== undefined) this.#find(focused)?.focus({ preventScroll: true });
  }

  // The next page of the list.
  #further(left, selected) {
    const text = this.words.more.replace("{count}", left.toLocaleString("en"));
    const button = make("button", { type: "button", className: "more-button", textContent: text });
    button.dataset.key = "further";
    button.addEventListener("click", () => {
      const next = this.length;
      this.length += PAGE;
      this.draw(selected);
      this.element.querySelectorAll(".neighbour")[next]?.focus();
    });
    return make("li", { className: "rest" }, button);
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

  // Asks for neighbours that are not shown, by relation if there are several.
  #rest(id) {
    const left = this.model.rest(id);
    if (left === 0) return [];
    const groups = this.model.rests(id);
    const buttons = groups.length > 1
      ? groups.map(([relation, count]) => this.#more(id, count, relation)) : [];
    return [make("li", { className: "rest" }, this.#more(id, left, ""), ...buttons)];
  }

  #more(id, left, relation) {
    const word = relation ? `${this.predicates[relation] ?? relation} +${left.toLocaleString("en")}` : this.words.more;
    const text = word.replace("{count}", left.toLocaleString("en"));
    const button = make("button", { type: "button", className: "more-button", textContent: text });
    button.dataset.key = `more ${id} ${relation}`;
    button.addEventListener("click", () => this.#tell("more", { id, relation }));
    return button;
  }

  #note(node) {
    if (this.model.centre === null || node.id === this.model.centre) return this.types[node.shape] ?? "";
    const joined = this.model.edgesOf(node.id)
      .filter((edge) => edge.source === this.model.centre || edge.target === this.model.centre)
      .map((edge) => this.predicates[edge.predicate] ?? edge.predicate);
    const kinds = [...new Set(joined)];
    if (kinds.length === 0) return this.types[node.shape] ?? "";
    return kinds.length > 2 ? `${kinds.slice(0, 2).join(" · ")} …` : kinds.join(" · ");
  }

  #inspector(node) {
    const isCentre = node.id === this.model.centre;
    const edges = this.model.edgesOf(node.id);
    // What is said in words first: of a map's facts the text is asked for when it is needed.
    const told = edges.toSorted((a, b) => Boolean(b.statement) - Boolean(a.statement));
    const facts = told.slice(0, FACTS).map((edge) => this.#fact(edge, node.id));
    if (edges.length > FACTS) {
      const address = `/memories?${new URLSearchParams({ node: node.id })}`;
      const text = this.words.all_facts.replace("{count}", edges.length.toLocaleString("en"));
      facts.push(make("li", {}, make("a", { href: address, textContent: text })));
    }
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
      if (left > 0) actions.append(this.#more(node.id, left, ""));
    }
    if (node.kind !== "session") actions.append(this.#way(node.id));
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

  // A way begins at one node and ends at another one.
  #way(id) {
    const from = this.start !== null && this.start !== id && this.model.nodes.get(this.start);
    const text = from ? this.words.path_to.replace("{name}", from.name) : this.words.path_from;
    const button = make("button", { type: "button", textContent: text });
    button.dataset.key = `way ${id}`;
    button.addEventListener("click", () => this.#tell("way", id));
    return button;
  }

  #fact(edge, from) {
    const kind = this.predicates[edge.predicate] ?? edge.predicate;
    if (PRESENCE.has(edge.predicate)) return make("li", { textContent: `${kind} ×${edge.times}` });
    const link = make("a", { href: `/memories/${encodeURIComponent(edge.id)}` },
      make("bdi", { textContent: edge.statement || `${kind} · ${this.#other(edge, from)}` }));
    const item = make("li", {}, link);
    item.dataset.edge = edge.id;
    if (edge.seen !== "current") {
      item.className = "ended";
      item.append(make("small", { textContent: this.states[edge.seen] ?? edge.seen }));
    }
    return item;
  }

  #other({ source, target }, from) {
    return this.model.nodes.get(source === from ? target : source).name;
  }

  // The second of two clicks is not for what a redraw has put under it.
  #once(event) {
    if (event.detail > 1 && !this.pressed.isConnected) {
      event.preventDefault();
      event.stopPropagation();
    } else {
      this.pressed = event.target;
    }
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
