// The graph page: loads, and keeps picture and list at one.

import { Layout } from "./layout.js";
import { List, shape } from "./list.js";
import { Model } from "./model.js";
import { Picture } from "./picture.js";

const FIRST = 60; // neighbours of the centre that are shown at once
const MORE = 30; // neighbours that expanding adds at most
const MOST = 300; // neighbours that the server tells of

const root = document.getElementById("graph");
const shown = document.getElementById("shown");
const loading = root.querySelector(".loading");
const settings = Object.fromEntries(
  ["words", "types", "predicates", "states", "outlines", "beside"].map((key) => [key, JSON.parse(root.dataset[key])]),
);
const { words } = settings;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const model = new Model();
const layout = new Layout(model);
const picture = new Picture(document.getElementById("picture"), model, settings);
const list = new List(document.getElementById("neighbours"), model, settings);
const asked = new Map(); // id -> how many neighbours were asked for
let selected = null;
let frame = 0;

function say(text, values = {}) {
  shown.textContent = text.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

async function ask(path, query) {
  const response = await fetch(`/api/v1/${path}?${new URLSearchParams(query)}`);
  if (!response.ok) throw new Error(`the graph answered ${response.status}`);
  return response.json();
}

async function load(node, limit) {
  const graph = await ask("graph", { node, limit });
  asked.set(node, limit);
  return graph;
}

function settle() {
  cancelAnimationFrame(frame);
  if (calm.matches) {
    while (!layout.isResting) layout.step();
    picture.place();
    return;
  }
  const tick = () => {
    for (let i = 0; i < 3 && !layout.isResting; i++) layout.step();
    picture.place();
    if (!layout.isResting) frame = requestAnimationFrame(tick);
  };
  frame = requestAnimationFrame(tick);
}

function redraw() {
  picture.draw(selected);
  list.draw(selected);
  legend();
}

function legend() {
  const present = [...new Set([...model.nodes.values()].map((node) => node.shape))];
  const items = present.map((name) => {
    const item = document.createElement("span");
    item.append(shape(name, settings.outlines), settings.types[name] ?? name);
    return item;
  });
  if ([...model.edges.values()].some((edge) => !edge.current)) {
    const item = document.createElement("span");
    const line = document.createElement("span");
    line.className = "legend-ended";
    item.append(line, words.ended);
    items.push(item);
  }
  root.querySelector(".legend-kinds").replaceChildren(...items);
}

function select(id) {
  selected = id;
  picture.select(id);
  list.draw(id);
  if (id !== null) list.reveal(id);
}

async function expand(id, limit = MORE) {
  if (model.isFull || limit > MOST) {
    say(words.full);
    return;
  }
  try {
    const graph = await load(id, limit);
    if (!model.nodes.has(id)) return;
    const added = model.add(graph);
    say(words.added, { name: graph.centre.name, added, total: graph.total });
  } catch {
    say(words.failed);
    return;
  }
  layout.warm();
  redraw();
  list.reveal(id);
  settle();
}

function collapse(id) {
  say(words.collapsed, { name: model.nodes.get(id).name });
  model.collapse(id);
  model.hold(true);
  layout.warm(0.2);
  redraw();
  settle();
}

picture.addEventListener("pick", ({ detail: id }) => {
  if (id === null) {
    select(null);
  } else if (id === selected && id !== model.centre && model.expanded.has(id)) {
    collapse(id);
  } else {
    select(id);
    if (model.hasMore(id)) expand(id);
  }
});
function more(id) {
  const before = asked.get(id) ?? 0;
  expand(id, before < MOST ? Math.min(MOST, before + FIRST) : before + 1);
}

picture.addEventListener("more", ({ detail: id }) => more(id));
picture.addEventListener("drag", () => {
  layout.warm(0.12);
  settle();
});
list.addEventListener("select", ({ detail: id }) => select(id));
list.addEventListener("expand", ({ detail: id }) => expand(id));
list.addEventListener("more", ({ detail: id }) => more(id));
list.addEventListener("light", ({ detail: { edge, on } }) => picture.light(edge, on));
list.addEventListener("collapse", ({ detail: id }) => collapse(id));

for (const button of root.querySelectorAll("[data-zoom]")) {
  button.addEventListener("click", () => {
    if (button.dataset.zoom === "fit") {
      picture.follows = true;
      picture.fit();
    } else {
      picture.zoom(button.dataset.zoom === "in" ? 1.35 : 1 / 1.35);
    }
  });
}
new ResizeObserver(() => picture.follows && picture.fit()).observe(picture.svg);

try {
  if (settings.beside.length) {
    const nodes = [root.dataset.node, ...settings.beside];
    model.begin(await ask("graph/among", nodes.map((node) => ["node", node])));
  } else {
    model.add(await load(root.dataset.node, FIRST));
  }
  model.hold(false);
  loading.hidden = true;
  root.querySelector(".zoom").hidden = false;
  for (let i = 0; i < 60; i++) layout.step(); // what unfolds, unfolds from a shape
  redraw();
  settle();
  root.dataset.ready = "yes";
} catch (error) {
  loading.textContent = words.failed;
  console.error(error);
}
