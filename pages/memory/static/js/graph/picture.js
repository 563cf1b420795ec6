// The picture: a canvas, drawn anew whenever something moves; of thousands of lines a copy is
// moved until the movement rests. Without a graphics card WebGL is several times slower.

import { Gestures } from "./gestures.js";

const SIZE = 12; // of a name, in pixels
const ROOM = 6000; // square pixels of the picture for each name; twice as much in a crowd
const TRIED = 700; // nodes that are looked at for a place for their name
const SHORT = 12; // characters of a name
const HUB = 10; // radius from which a node is named whatever is around it
const CLOSE = 400; // nodes in sight up to which names keep clear of all of them
const FAST = 1500; // lines from which a copy is moved
const REST = 140; // milliseconds without a movement after which everything is drawn
const MARGIN = 0.2; // of the copy, beyond each edge of the picture
const GROUPS = 4; // relations of one node that are offered by themselves
const DOT = 4; // radius below which a shape is a dot
const PIGMENTS = ["user", "person", "place", "organization", "thing", "animal", "work", "event", "topic", "bot", "session"];
const INKS = ["sheet", "ink", "ink-2", "ink-3", "line-2", "azurite", "azurite-2"];

function cut(text) {
  const signs = [...text];
  return signs.length > SHORT ? signs.slice(0, SHORT - 1).join("") + "…" : text;
}

function overlaps([left, top, right, bottom], [l, t, r, b]) {
  return left < r && l < right && top < b && t < bottom;
}

// The colours of the page as a canvas wants them.
function palette(element) {
  const probe = document.createElement("span");
  element.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = {
    ...Object.fromEntries(INKS.map((name) => [name, read(name)])),
    ...Object.fromEntries(PIGMENTS.map((name) => [`k-${name}`, read(`k-${name}`)])),
    font: getComputedStyle(probe).fontFamily,
  };
  probe.remove();
  return found;
}

export class Picture extends EventTarget {
  #view = { x: 0, y: 0, k: 1 };
  #sprites = new Map();
  #ghosts = [];
  #grabbed = null;
  #hovered = null;
  #lit = null;
  #frame = 0;
  #copy = null;
  #moving = 0;

  constructor(canvas, model, { outlines, predicates, calm }) {
    super();
    Object.assign(this, { canvas, model, predicates, calm });
    this.outlines = Object.fromEntries(Object.entries(outlines).map(([name, d]) => [name, new Path2D(d)]));
    this.brush = canvas.getContext("2d");
    this.follows = true; // fits itself until somebody moves it
    this.selected = null;
    this.path = []; // ids of nodes to point out, one after the other
    this.colours = { rule: "kind", of: (node) => `k-${node.shape}`, legend: [] };
    this.gestures = new Gestures(canvas);
    for (const [type, react] of [
      ["press", this.#grab], ["tap", this.#tap], ["drag", this.#drag], ["hover", this.#hover], ["leave", this.#hover],
      ["zoom", ({ factor, at }) => this.zoom(factor, at)],
    ]) this.gestures.addEventListener(type, ({ detail }) => react.call(this, detail));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#dress());
    new MutationObserver(() => this.#dress()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    new ResizeObserver(() => this.#resize()).observe(canvas);
    this.#dress();
    this.#resize();
  }

  #dress() {
    this.ink = palette(this.canvas.parentElement);
    this.#sprites.clear();
    this.draw();
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const dense = Math.min(2, devicePixelRatio || 1);
    const middle = this.width ? this.middle : null;
    Object.assign(this, { width, height, dense });
    this.canvas.width = Math.round(width * dense);
    this.canvas.height = Math.round(height * dense);
    this.#sprites.clear();
    if (this.follows) this.fit();
    else if (middle) this.middle = middle;
    this.draw();
  }

  // ------------------------------------------------------------------ drawing

  // Draws at the next frame, however often it is called before.
  draw() {
    this.#copy = null;
    this.#soon();
  }

  #soon() {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  }

  #paint() {
    const { brush, dense, model, width, height } = this;
    const { x, y, k } = this.#view;
    const near = this.selected === null || this.selected === model.centre ? null : model.neighbours(this.selected);
    near?.add(this.selected);
    brush.setTransform(dense, 0, 0, dense, 0, 0);
    brush.clearRect(0, 0, width, height);
    const isMany = model.lines.length > FAST;
    if (isMany) this.#paste(near);
    this.#place(this.#view);
    const seen = model.visible.filter((node) => this.#isInside(node));
    if (!isMany) this.#layers(seen, near);
    this.#rings();
    this.#haunt(seen);
    this.#label(seen, near);
    this.canvas.dataset.view = `${x.toFixed(1)} ${y.toFixed(1)} ${k.toFixed(4)}`;
    this.canvas.dataset.nodes = model.visible.length;
    this.canvas.dataset.lines = model.lines.length;
    this.canvas.dataset.selected = this.selected ?? "";
  }

  #place({ x, y, k }) {
    this.shrink = Math.min(1.15, k ** 0.6);
    for (const node of this.model.nodes.values()) {
      node.px = node.x * k + x;
      node.py = node.y * k + y;
      node.pr = Math.max(1.5, node.radius * this.shrink);
    }
  }

  #layers(seen, near) {
    this.#strokes(near);
    this.#dots(seen, near);
  }

  // Draws the copy where it belongs by now; makes a new one if it does not reach that far, or
  // is of another size when nothing moves any more.
  #paste(near) {
    const { k, x, y } = this.#view;
    let scale = k / (this.#copy?.k ?? 0);
    let [left, top] = [x - (this.#copy?.x ?? 0) * scale, y - (this.#copy?.y ?? 0) * scale];
    const fits = this.#moving ? scale > 0.6 && scale < 1.7 : scale === 1;
    const reaches = this.#copy && fits && (this.#copy.isAll || (left <= 0 && top <= 0
      && left + this.#copy.width * scale >= this.width && top + this.#copy.height * scale >= this.height));
    if (!reaches) {
      this.#copy = this.#copied(near);
      [scale, left, top] = [1, x - this.#copy.x, y - this.#copy.y];
    }
    if (scale === 1) [left, top] = [Math.round(left), Math.round(top)]; // between pixels it would blur
    const { image, width, height } = this.#copy;
    this.brush.drawImage(image, left, top, width * scale, height * scale);
  }

  #copied(near) {
    const { brush, width, height, dense } = this;
    const { x, y, k } = this.#view;
    const [aside, above] = [Math.round(width * MARGIN), Math.round(height * MARGIN)];
    const copy = { k, x: x + aside, y: y + above, width: width + 2 * aside, height: height + 2 * above };
    copy.image = new OffscreenCanvas(copy.width * dense, copy.height * dense);
    this.#place(copy);
    Object.assign(this, { brush: copy.image.getContext("2d"), width: copy.width, height: copy.height });
    this.brush.scale(dense, dense);
    const seen = this.model.visible.filter((node) => this.#isInside(node));
    this.#layers(seen, near);
    copy.isAll = seen.length === this.model.visible.length;
    Object.assign(this, { brush, width, height });
    return copy;
  }

  #isInside({ px, py, pr }) {
    return px > -pr && py > -pr && px < this.width + pr && py < this.height + pr;
  }

  // Lines of one look are one stroke: that is what makes it fast.
  #strokes(near) {
    const { brush, ink, width, height } = this;
    const many = this.model.lines.length;
    const steps = this.#steps();
    const looks = new Map();
    for (const line of this.model.lines) {
      const { a, b } = line;
      if ((a.px < 0 && b.px < 0) || (a.py < 0 && b.py < 0)) continue;
      if ((a.px > width && b.px > width) || (a.py > height && b.py > height)) continue;
      const isLit = line === this.#lit || steps.has(`${a.id}\n${b.id}`)
        || (near !== null && (a.id === this.selected || b.id === this.selected));
      // The thinnest there are take a third of the time.
      const thick = many > 4000 ? 1 / this.dense : Math.min(4, 1 + Math.round(Math.log2(line.times) / 2));
      const look = `${isLit ? 2 : line.current ? 1 : 0} ${thick}`;
      if (!looks.has(look)) looks.set(look, []);
      looks.get(look).push(line);
    }
    const faint = many > 8000 ? 0.14 : many > FAST ? 0.28 : 0.55;
    const strong = Math.min(0.55, faint + 0.4 * Math.min(1, this.#view.k)); // near by there are few
    for (const look of [...looks.keys()].sort()) {
      const [kind, thick] = look.split(" ").map(Number);
      brush.strokeStyle = kind === 2 ? ink.azurite : ink["line-2"];
      brush.globalAlpha = (kind === 2 ? 1 : kind === 1 ? strong : strong * 0.55)
        * (near || steps.size ? (kind === 2 ? 1 : 0.35) : 1);
      brush.lineWidth = kind === 2 ? Math.max(1.6, thick) : thick;
      brush.setLineDash(kind === 0 && many <= FAST ? [4, 4] : []);
      const lines = looks.get(look);
      for (let i = 0; i < lines.length;) {
        brush.beginPath(); // very long ones are slower again
        for (const end = Math.min(lines.length, i + 400); i < end; i++) {
          const { a, b } = lines[i];
          brush.moveTo(a.px, a.py);
          brush.lineTo(b.px, b.py);
        }
        brush.stroke();
      }
    }
    brush.setLineDash([]);
    brush.globalAlpha = 1;
  }

  #steps() {
    const found = new Set();
    for (let i = 1; i < this.path.length; i++) found.add([this.path[i - 1], this.path[i]].sort().join("\n"));
    return found;
  }

  #dots(seen, near) {
    const { brush } = this;
    const far = near || this.path.length ? 0.25 : 1;
    // The best connected last, so that they are on top.
    for (let i = seen.length - 1; i >= 0; i--) {
      const node = seen[i];
      const isFar = far < 1 && !(near?.has(node.id) || this.path.includes(node.id));
      brush.globalAlpha = isFar ? far : 1;
      const image = this.#sprite(node);
      const size = image.width / this.dense;
      brush.drawImage(image, node.px - size / 2, node.py - size / 2, size, size);
    }
    brush.globalAlpha = 1;
  }

  // Around what is selected or pointed at.
  #rings() {
    const { brush, ink } = this;
    brush.strokeStyle = ink.azurite;
    brush.lineWidth = 2;
    for (const id of new Set([this.selected, this.#hovered])) {
      const node = this.model.nodes.get(id);
      if (!node) continue;
      brush.beginPath();
      brush.arc(node.px, node.py, node.pr + 4, 0, 2 * Math.PI);
      brush.stroke();
    }
  }

  // A node of a look, drawn once.
  #sprite(node) {
    const radius = node.pr < DOT ? Math.round(node.pr * 4) / 4 : Math.round(node.pr);
    const more = this.model.hasMore(node.id) && radius >= DOT;
    const colour = this.colours.of(node);
    const key = `${node.shape} ${radius} ${more} ${colour}`;
    const known = this.#sprites.get(key);
    if (known) return known;
    const side = Math.ceil((radius + 5) * 2 * this.dense);
    const image = new OffscreenCanvas(side, side);
    const brush = image.getContext("2d");
    brush.translate(side / 2, side / 2);
    brush.scale(this.dense, this.dense);
    brush.fillStyle = this.ink[colour] ?? colour;
    brush.strokeStyle = this.ink.sheet;
    if (radius < DOT) {
      brush.beginPath();
      brush.arc(0, 0, radius, 0, 2 * Math.PI);
      brush.fill();
    } else {
      const size = radius / 10;
      brush.save();
      brush.scale(size, size);
      brush.lineWidth = 1.5 / size;
      const outline = this.outlines[node.shape] ?? this.outlines.topic;
      brush.fill(outline);
      brush.stroke(outline);
      brush.restore();
    }
    if (more) {
      brush.strokeStyle = brush.fillStyle;
      brush.globalAlpha = 0.6;
      brush.setLineDash([1.5, 3]);
      brush.beginPath();
      brush.arc(0, 0, radius + 3.5, 0, 2 * Math.PI);
      brush.stroke();
    }
    this.#sprites.set(key, image);
    return image;
  }

  // What stands for neighbours that are not shown: a group for each relation, of many all.
  #haunt(seen) {
    const { brush, ink, model } = this;
    this.#ghosts = [];
    brush.font = `600 11px ${ink.font}`;
    brush.textAlign = "center";
    brush.lineWidth = 1;
    brush.strokeStyle = ink["line-2"];
    brush.setLineDash([2.5, 3]);
    const taken = seen.map(({ px, py, pr }) => [px - pr, py - pr, px + pr, py + pr]);
    for (const id of model.expanded.keys()) {
      const node = model.nodes.get(id);
      const count = node ? model.rest(id) : 0;
      if (count === 0 || !this.#isInside(node)) continue;
      const groups = model.rests(id).slice(0, GROUPS)
        .map(([relation, left]) => [relation, `${this.predicates[relation] ?? relation} +${left.toLocaleString("en")}`]);
      if (groups.length !== 1) groups.push(["", `+${count.toLocaleString("en")}`]);
      const widths = groups.map(([, text]) => brush.measureText(text).width + 14);
      const [left, top] = this.#clear(node, Math.max(...widths), 21 * groups.length - 3, taken);
      brush.beginPath();
      brush.moveTo(node.px, node.py);
      brush.lineTo(left + Math.max(0, Math.min(widths[0], node.px - left)), top + 9);
      brush.stroke();
      groups.forEach(([relation, text], row) => {
        const box = [left, top + 21 * row, left + widths[row], top + 21 * row + 18];
        this.#ghosts.push({ id, relation, box });
        taken.push(box);
        brush.fillStyle = ink.sheet;
        brush.beginPath();
        brush.roundRect(left, box[1], widths[row], 18, 9);
        brush.fill();
        brush.stroke();
        brush.fillStyle = ink["ink-2"];
        brush.fillText(text, left + widths[row] / 2, box[1] + 13);
      });
    }
    brush.setLineDash([]);
    this.canvas.dataset.more = [...new Set(this.#ghosts.map(({ id }) => id))].map((id) => model.rest(id)).join(" ");
  }

  // Where something as large stands beside a node and covers none, as near to it as it can.
  #clear({ px, py, pr }, wide, high, taken) {
    const near = [px + pr + 4, py - pr - 19];
    for (let far = pr + 4; far < this.width; far += 12) {
      const spots = [[px + far, near[1]], [px + far, py - high / 2], [px - far - wide, py - high / 2],
        [px - wide / 2, py + far + SIZE], [px - wide / 2, py - far - high]];
      for (const [left, top] of spots) {
        const box = [left, top, left + wide, top + high];
        if (box[0] < 0 || box[1] < 0 || box[2] > this.width || box[3] > this.height) continue;
        if (!taken.some((other) => overlaps(box, other))) return [left, top];
      }
    }
    return near;
  }

  // Names stand where there is room; where there is none the more connected one stays.
  #label(seen, near) {
    const { brush, ink } = this;
    const taken = this.#ghosts.map(({ box }) => box);
    if (seen.length <= CLOSE) {
      for (const { id, px, py, pr } of seen) {
        if (!near || near.has(id)) taken.push([px - pr, py - pr, px + pr, py + pr]);
      }
    }
    const first = [...this.path, this.selected, this.#hovered, this.model.centre]
      .map((id) => this.model.nodes.get(id)).filter((node) => node && this.#isInside(node));
    const leaders = near || this.path.length || seen.length <= CLOSE ? new Set() : this.#leaders(seen);
    const others = near || this.path.length ? seen.filter(({ id }) => near?.has(id)) : seen;
    brush.textAlign = "center";
    brush.lineJoin = "round";
    brush.lineWidth = 3.4;
    brush.strokeStyle = ink.sheet;
    const most = (this.width * this.height) / (seen.length > CLOSE ? 2 * ROOM : ROOM);
    let shown = 0;
    for (const node of new Set([...first, ...leaders, ...others.slice(0, TRIED)])) {
      const isFirst = first.includes(node) || leaders.has(node);
      brush.font = `${isFirst ? 600 : 400} ${SIZE}px ${ink.font}`;
      node.short ??= cut(node.name);
      node.wide ??= brush.measureText(node.short).width / 2;
      const place = this.#room(node, taken, first.includes(node) || node.pr > HUB);
      if (!place) continue;
      taken.push(place.box);
      brush.fillStyle = isFirst ? ink.ink : ink["ink-2"];
      brush.strokeText(node.short, place.x, place.y);
      brush.fillText(node.short, place.x, place.y);
      if (++shown >= most) break;
    }
    if (this.#lit) this.#say(this.#lit);
    this.canvas.dataset.labels = shown;
  }

  // Who a community is called after: the best connected of each that is in sight.
  #leaders(seen) {
    const found = new Map();
    for (const node of seen) if (!found.has(node.group)) found.set(node.group, node);
    return new Set(found.values());
  }

  #room({ px, py, pr, wide }, taken, isFirst) {
    const below = [px, py + pr + 2 + SIZE];
    const aside = pr + 5 + wide;
    const spots = [below, [px, py - pr - 5], [px + aside, py + 4], [px - aside, py + 4]];
    for (const [x, y] of spots) {
      const box = [x - wide - 2, y - SIZE + 1, x + wide + 2, y + 3];
      if (box[0] < 0 || box[2] > this.width || box[1] < 0 || box[3] > this.height) continue;
      if (!taken.some((other) => overlaps(box, other))) return { x, y, box };
    }
    if (!isFirst) return null;
    return { x: below[0], y: below[1], box: [px - wide, py + pr, px + wide, py + pr + SIZE] };
  }

  // What a line says.
  #say({ a, b, edges }) {
    const { brush, ink } = this;
    const kinds = [...new Set(edges.map(({ predicate }) => this.predicates[predicate] ?? predicate))];
    brush.font = `600 ${SIZE}px ${ink.font}`;
    brush.fillStyle = ink["azurite-2"];
    const text = kinds.slice(0, 3).join(" · ");
    const [x, y] = [(a.px + b.px) / 2, (a.py + b.py) / 2 - 4];
    brush.strokeText(text, x, y);
    brush.fillText(text, x, y);
    this.canvas.dataset.said = text;
  }

  // Points out the line of an edge, with what it says.
  light(id, on) {
    this.#lit = on ? this.model.lines.find(({ edges }) => edges.some((edge) => edge.id === id)) ?? null : null;
    if (!this.#lit) delete this.canvas.dataset.said;
    this.draw();
  }

  // The picture as a file, on the colour of the page.
  async image() {
    const image = new OffscreenCanvas(this.canvas.width, this.canvas.height);
    const brush = image.getContext("2d");
    brush.fillStyle = this.ink.sheet;
    brush.fillRect(0, 0, image.width, image.height);
    brush.drawImage(this.canvas, 0, 0);
    return image.convertToBlob({ type: "image/png" });
  }

  select(id) {
    this.selected = id !== null && this.model.nodes.has(id) ? id : null;
    this.draw();
  }

  // ------------------------------------------------------------------ looking

  fit(nodes = this.model.visible) {
    if (!nodes.length || !this.width) return;
    const xs = nodes.map(({ x }) => x);
    const ys = nodes.map(({ y }) => y);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    const [aside, above, below] = this.width < 480 ? [40, 64, 40] : [70, 34, 44];
    const k = Math.min(
      1.6,
      Math.max(60, this.width - 2 * aside) / Math.max(1, right - left),
      Math.max(60, this.height - above - below) / Math.max(1, bottom - top),
    );
    this.#look({
      k,
      x: this.width / 2 - (k * (left + right)) / 2,
      y: (this.height + above - below) / 2 - (k * (top + bottom)) / 2,
    });
  }

  // What is in the middle, and how near; the same on every screen.
  get middle() {
    const { x, y, k } = this.#view;
    return [(this.width / 2 - x) / k, (this.height / 2 - y) / k, k];
  }

  set middle([x, y, k]) {
    this.follows = false;
    this.#look({ k, x: this.width / 2 - x * k, y: this.height / 2 - y * k });
  }

  // Brings a node into sight if it is not.
  reveal(id) {
    const node = this.model.nodes.get(id);
    const { x, y, k } = this.#view;
    if (!node) return;
    const [px, py] = [node.x * k + x, node.y * k + y];
    if (px > 40 && py > 40 && px < this.width - 40 && py < this.height - 40) return;
    this.follows = false;
    this.#glide({ k, x: this.width / 2 - node.x * k, y: this.height / 2 - node.y * k });
  }

  #glide(view) {
    if (this.calm.matches) {
      this.#look(view);
      return;
    }
    const from = this.#view;
    const begin = performance.now();
    const step = (now) => {
      const part = Math.min(1, Math.max(0, (now - begin) / 280));
      const eased = 1 - (1 - part) ** 3;
      const between = (key) => from[key] + (view[key] - from[key]) * eased;
      this.#look({ x: between("x"), y: between("y"), k: between("k") });
      if (part < 1 && !this.gestures.isPressed) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  zoom(factor, at = { x: this.width / 2, y: this.height / 2 }) {
    const k = Math.min(6, Math.max(0.01, this.#view.k * factor));
    const scale = k / this.#view.k;
    this.follows = false;
    this.#look({ k, x: at.x - (at.x - this.#view.x) * scale, y: at.y - (at.y - this.#view.y) * scale });
  }

  pan(dx, dy) {
    this.follows = false;
    this.#look({ ...this.#view, x: this.#view.x + dx, y: this.#view.y + dy });
  }

  #look(view) {
    this.#view = view;
    clearTimeout(this.#moving);
    this.#moving = setTimeout(() => {
      this.#moving = 0;
      this.#soon();
      this.dispatchEvent(new Event("rest"));
    }, REST);
    this.#soon();
  }

  // ----------------------------------------------------------------- touching

  // Where a node is on the screen, from the canvas's corner.
  placeOf(id) {
    const { x, y } = this.model.nodes.get(id);
    return { x: x * this.#view.k + this.#view.x, y: y * this.#view.k + this.#view.y };
  }

  #nodeAt({ x, y }) {
    let [found, least] = [null, Infinity];
    for (const node of this.model.visible) {
      const far = Math.hypot(node.px - x, node.py - y) - node.pr;
      if (far < 6 && far < least) [found, least] = [node, far];
    }
    return found;
  }

  #lineAt({ x, y }) {
    return this.model.lines.find(({ a, b }) => {
      const [dx, dy] = [b.px - a.px, b.py - a.py];
      const part = ((x - a.px) * dx + (y - a.py) * dy) / (dx * dx + dy * dy || 1);
      return part > 0 && part < 1 && Math.abs((x - a.px) * dy - (y - a.py) * dx) < 5 * Math.hypot(dx, dy);
    }) ?? null;
  }

  // What stands there for neighbours that are not shown.
  moreAt({ x, y }) {
    return this.#ghosts.find(({ box: [l, t, r, b] }) => x > l && x < r && y > t && y < b) ?? null;
  }

  #grab(point) {
    this.#grabbed = { node: this.#nodeAt(point), more: this.moreAt(point) };
  }

  // Around a node what stands in the way can be put aside; the map stays as it is.
  #drag({ dx, dy }) {
    const { node } = this.#grabbed;
    if (!node || this.model.centre === null) {
      this.pan(dx, dy);
      return;
    }
    node.x += dx / this.#view.k;
    node.y += dy / this.#view.k;
    this.follows = false;
    this.draw();
  }

  #hover(point) {
    const node = point && this.#nodeAt(point);
    const line = !point || node || this.model.lines.length > FAST ? null : this.#lineAt(point);
    this.canvas.classList.toggle("pointing", Boolean(node ?? (point && this.moreAt(point))));
    if ((node?.id ?? null) === this.#hovered && line === this.#lit) return;
    this.#hovered = node?.id ?? null;
    this.#lit = line;
    this.#soon();
  }

  #tap() {
    const { node, more } = this.#grabbed;
    const [type, detail] = more === null ? ["pick", node?.id ?? null] : ["more", more];
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
