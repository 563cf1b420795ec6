// The picture: SVG made of elements and attributes only, so that no name can be markup
// and no style is inline.

const SVG = "http://www.w3.org/2000/svg";
const SIZE = 12; // of a label, in pixels, however near one looks
const LABELS = 8; // edges that may be labelled at once
const SHORT = 12; // characters of a label

function make(name, attributes = {}, parent = null) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

// Of a text, in sizes of its letters: Chinese ones are square.
function width(text) {
  return [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 1 : 0.56), 0);
}

function overlap([left, top, right, bottom], [l, t, r, b]) {
  return left < r && l < right && top < b && t < bottom;
}

function cut(text) {
  const signs = [...text];
  return signs.length > SHORT ? signs.slice(0, SHORT - 1).join("") + "…" : text;
}

export class Picture extends EventTarget {
  #nodes = new Map();
  #ghosts = new Map();
  #edges = new Map();
  #pointers = new Map();
  #view = { x: 0, y: 0, k: 1 };
  #moved = false;
  #grabbed = null;
  #more = null;

  constructor(svg, model, { outlines, predicates }) {
    super();
    this.svg = svg;
    this.model = model;
    this.outlines = outlines;
    this.predicates = predicates;
    this.follows = true; // fits itself until somebody moves it
    this.world = make("g", {}, svg);
    this.lines = make("g", {}, this.world);
    this.marks = make("g", {}, this.world);
    this.words = make("g", {}, this.world);
    svg.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    svg.addEventListener("pointerdown", (event) => this.#down(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    svg.addEventListener("pointerup", (event) => this.#up(event));
    svg.addEventListener("pointercancel", (event) => this.#up(event));
  }

  // ------------------------------------------------------------------ drawing

  // Makes the elements again; positions are set by place().
  draw(selected = null) {
    for (const group of [this.lines, this.marks, this.words]) group.replaceChildren();
    this.#nodes.clear();
    this.#ghosts.clear();
    this.#edges.clear();
    for (const bundle of this.model.bundles()) {
      bundle.forEach((edge, index) => this.#edge(edge, index - (bundle.length - 1) / 2));
    }
    for (const ghost of this.model.ghosts.values()) this.#ghost(ghost);
    for (const node of this.model.nodes.values()) this.#node(node);
    this.select(selected);
    this.place();
  }

  #edge(edge, offset) {
    const hub = this.model.isHub(edge.source) || this.model.isHub(edge.target);
    const line = make("path", {
      class: `edge${edge.current ? "" : " ended"}${hub ? " of-hub" : ""}`,
      "stroke-width": Math.min(4, 1 + 0.5 * Math.log2(Math.max(1, edge.times))),
    }, this.lines);
    const area = make("path", { class: "edge-area", "data-edge": edge.id }, this.lines);
    const label = make("text", { class: "edge-label", dy: "-4" }, this.words);
    label.textContent = this.predicates[edge.predicate] ?? edge.predicate;
    area.addEventListener("pointerenter", () => this.light(edge.id, true));
    area.addEventListener("pointerleave", () => this.light(edge.id, false));
    this.#edges.set(edge.id, { edge, offset, line, area, label });
  }

  // Points out an edge, with what it says.
  light(id, on) {
    const found = this.#edges.get(id);
    if (!found) return;
    const lit = on || this.#lit(found.edge);
    found.line.classList.toggle("lit", lit);
    found.label.classList.toggle("lit", lit);
  }

  // Neighbours that are not shown.
  #ghost(ghost) {
    const line = make("path", { class: "tether" }, this.lines);
    const group = make("g", { class: "ghost", "data-more": ghost.of }, this.marks);
    make("circle", { r: ghost.radius }, group);
    const label = make("text", { class: "ghost-label" }, group);
    label.textContent = `+${ghost.count}`;
    this.#ghosts.set(ghost.of, { group, label, line });
  }

  #node(node) {
    const kind = this.model.isHub(node.id) ? " hub" : "";
    const more = this.model.hasMore(node.id) ? " has-more" : "";
    const group = make("g", {
      class: `node${kind}${more}`,
      "data-shape": node.shape,
      "data-node": node.id,
    }, this.marks);
    make("circle", { class: "ring", r: node.radius + 4.5 }, group);
    make("path", {
      d: this.outlines[node.shape] ?? this.outlines.topic,
      transform: `scale(${(node.radius / 10).toFixed(3)})`,
    }, group);
    make("title", {}, group).textContent = node.name;
    const label = make("text", { class: "node-label" }, group);
    label.textContent = cut(node.name);
    this.#nodes.set(node.id, { group, label });
  }

  place() {
    for (const [id, { group }] of this.#nodes) {
      const { x, y } = this.model.nodes.get(id);
      group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    }
    for (const [of, { group, line }] of this.#ghosts) {
      const { x, y } = this.model.ghosts.get(of);
      const node = this.model.nodes.get(of);
      group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      line.setAttribute("d", `M${node.x.toFixed(1)} ${node.y.toFixed(1)}L${x.toFixed(1)} ${y.toFixed(1)}`);
    }
    for (const { edge, offset, line, area, label } of this.#edges.values()) {
      const a = this.model.nodes.get(edge.source);
      const b = this.model.nodes.get(edge.target);
      const { d, x, y } = a === b ? loop(a, offset) : curve(a, b, offset);
      line.setAttribute("d", d);
      area.setAttribute("d", d);
      label.setAttribute("x", x.toFixed(1));
      label.setAttribute("y", y.toFixed(1));
    }
    if (this.follows) this.fit();
    else this.#label();
  }

  // Names keep their size on the screen and stand where there is room; where there is none
  // the more connected one stays.
  #label() {
    const size = SIZE / this.#view.k;
    const frame = this.svg.clientWidth;
    this.world.setAttribute("font-size", size.toFixed(2));
    const nodes = [...this.model.nodes.values()];
    const taken = this.model.bodies.map(({ x, y, radius: r }) => [x - r, y - r, x + r, y + r]);
    const first = (node) => (node.id === this.model.centre ? Infinity : node.degree);
    for (const node of nodes.toSorted((a, b) => first(b) - first(a))) {
      const { label } = this.#nodes.get(node.id);
      const half = (width(label.textContent) * size) / 2;
      const beside = node.radius + 5 + half;
      const below = [0, node.radius + 4 + size * 1.15];
      const spots = [below, [0, -node.radius - 4 - size * 0.45], [beside, size * 0.35], [-beside, size * 0.35]];
      const box = ([dx, dy]) => {
        const [x, y] = [node.x + dx, node.y + dy];
        return [x - half, y - size * 0.9, x + half, y + size * 0.25];
      };
      const isCut = ([dx]) => {
        const x = this.#view.x + (node.x + dx) * this.#view.k;
        return dx !== 0 && Math.abs(x - frame / 2) + half * this.#view.k > frame / 2;
      };
      const spot = spots.find((each) => !isCut(each) && !taken.some((other) => overlap(box(each), other)));
      if (spot) taken.push(box(spot));
      label.classList.toggle("covered", !spot);
      const [x, y] = spot ?? below;
      label.setAttribute("x", x.toFixed(1));
      label.setAttribute("y", y.toFixed(1));
    }
  }

  #lit(edge) {
    return this.selected !== null && (edge.source === this.selected || edge.target === this.selected);
  }

  select(id) {
    this.selected = id !== null && this.model.nodes.has(id) ? id : null;
    const near = this.selected === null ? new Set() : this.model.neighbours(this.selected);
    this.svg.classList.toggle("dim", this.selected !== null && this.selected !== this.model.centre);
    for (const [key, { group }] of this.#nodes) {
      group.classList.toggle("selected", key === this.selected);
      group.classList.toggle("near", key === this.selected || near.has(key));
    }
    const lit = [...this.#edges.values()].filter(({ edge }) => this.#lit(edge));
    for (const { line, label } of this.#edges.values()) {
      line.classList.remove("lit");
      label.classList.remove("lit");
    }
    for (const { line, label } of lit) {
      line.classList.toggle("lit", this.selected !== this.model.centre);
      label.classList.toggle("lit", lit.length <= LABELS);
    }
  }

  // ------------------------------------------------------------------ looking

  fit() {
    const { width, height } = this.svg.getBoundingClientRect();
    let [left, top, right, bottom] = [-60, -60, 60, 60];
    const aside = width < 480 ? 34 : 60; // room for names
    for (const { x, y, radius } of this.model.bodies) {
      left = Math.min(left, x - radius - aside);
      right = Math.max(right, x + radius + aside);
      top = Math.min(top, y - radius - 10);
      bottom = Math.max(bottom, y + radius + 24);
    }
    const ceiling = width < 480 ? 48 : 0; // room for the buttons
    const k = Math.min(1.5, width / (right - left), (height - ceiling) / (bottom - top));
    this.#look({
      k,
      x: width / 2 - (k * (left + right)) / 2,
      y: (height + ceiling) / 2 - (k * (top + bottom)) / 2,
    });
  }

  zoom(factor, at = null) {
    const box = this.svg.getBoundingClientRect();
    const { x, y } = at ?? { x: box.width / 2, y: box.height / 2 };
    const k = Math.min(4, Math.max(0.15, this.#view.k * factor));
    const scale = k / this.#view.k;
    this.follows = false;
    this.#look({ k, x: x - (x - this.#view.x) * scale, y: y - (y - this.#view.y) * scale });
  }

  #look(view) {
    this.#view = view;
    const { x, y, k } = view;
    this.world.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(4)})`);
    this.#label();
  }

  // ----------------------------------------------------------------- touching

  #point(event) {
    const box = this.svg.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  #wheel(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), this.#point(event));
  }

  #down(event) {
    if (event.button !== 0) return;
    this.svg.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, this.#point(event));
    this.#moved = false;
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const id = target?.closest(".node")?.dataset.node;
    this.#more = target?.closest(".ghost")?.dataset.more ?? null;
    this.#grabbed = id === undefined ? null : this.model.nodes.get(id) ?? null;
  }

  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = this.#point(event);
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (!this.#moved && Math.hypot(dx, dy) < 4) return;
    this.#moved = true;
    this.#pointers.set(event.pointerId, now);
    this.follows = false;
    this.svg.classList.add("dragging");
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const stretch = Math.hypot(now.x - other.x, now.y - other.y)
        / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      this.zoom(stretch, { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    } else if (this.#grabbed) {
      this.#grabbed.pinned = true;
      this.model.hold(false);
      this.#grabbed.x += dx / this.#view.k;
      this.#grabbed.y += dy / this.#view.k;
      this.dispatchEvent(new Event("drag"));
    } else {
      this.#look({ ...this.#view, x: this.#view.x + dx, y: this.#view.y + dy });
    }
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId)) return;
    const node = this.#grabbed;
    if (node) node.pinned = false;
    this.#grabbed = null;
    this.svg.classList.remove("dragging");
    if (!this.#moved && event.type === "pointerup" && this.#more !== null) {
      this.dispatchEvent(new CustomEvent("more", { detail: this.#more }));
    } else if (!this.#moved && event.type === "pointerup") {
      this.dispatchEvent(new CustomEvent("pick", { detail: node?.id ?? null }));
    }
  }
}

function curve(a, b, offset) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy) || 1;
  // Ordered, or two edges of opposite direction would bend onto each other.
  const side = a.id < b.id ? 1 : -1;
  const bend = offset * 26 * side;
  const x = (a.x + b.x) / 2 - (dy / length) * bend;
  const y = (a.y + b.y) / 2 + (dx / length) * bend;
  const d = `M${a.x.toFixed(1)} ${a.y.toFixed(1)}Q${x.toFixed(1)} ${y.toFixed(1)} ${b.x.toFixed(1)} ${b.y.toFixed(1)}`;
  return { d, x: (a.x + b.x + 2 * x) / 4, y: (a.y + b.y + 2 * y) / 4 };
}

function loop(a, offset) {
  const far = a.radius + 26 + Math.abs(offset) * 14;
  const d = `M${a.x} ${a.y}C${a.x - far} ${a.y - far * 1.6} ${a.x + far} ${a.y - far * 1.6} ${a.x} ${a.y}`;
  return { d, x: a.x, y: a.y - far * 1.2 };
}
