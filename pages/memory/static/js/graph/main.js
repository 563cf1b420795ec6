// The graph page: loads, and keeps picture and list at one.

import { ask as askFor, awaited, ended, here, note } from "../place.js";
import { Controls, FIELDS } from "./controls.js";
import { List, shape } from "./list.js";
import { Model } from "./model.js";
import { Picture } from "./picture.js";
import { Ways } from "./ways.js";

const FIRST = 60; // neighbours of the centre that are shown at once
const MORE = 30; // neighbours that expanding adds at most
const MOST = 300; // neighbours that the server tells of
const PAUSE = 120; // milliseconds that the slider rests before the server is asked

const root = document.getElementById("graph");
const shown = document.getElementById("shown");
const loading = root.querySelector(".loading");
const settings = Object.fromEntries(
  ["words", "types", "predicates", "states", "outlines", "beside"].map((key) => [key, JSON.parse(root.dataset[key])]),
);
const { words } = settings;
settings.calm = matchMedia("(prefers-reduced-motion: reduce)");
// Seconds by which AstrBot's clock is ahead of UTC.
settings.ahead = (Date.parse(`${root.dataset.now.slice(0, 19)}Z`) - Date.parse(root.dataset.now)) / 1000;

export const model = new Model();
export const picture = new Picture(document.getElementById("picture"), model, settings);
const list = new List(document.getElementById("neighbours"), model, settings);
const isWhole = !root.dataset.node;
const form = document.getElementById("lenses");
const controls = new Controls(form, model, settings, isWhole ? "group" : "kind");
const ways = new Ways(document.getElementById("route"), model, settings);
const asked = new Map(); // id -> how many neighbours were asked for
const opening = new Set(); // of which the answer is still to come
let selected = null;
let turn = 0; // of looking through somebody's eyes
let timer = 0;
let atlas = null; // what the map says, once it was asked for

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, key) => (values[key] ?? "").toLocaleString("en"));
}

function say(text, values = {}) {
  shown.textContent = fill(text, values);
}

// What to tell of a failure: most likely the login has ended.
function sorry(error) {
  return error.status === 401 ? words.login : words.failed;
}

async function ask(path, query = []) {
  const { status, text } = await awaited(askFor(`/api/v1/${path}?${new URLSearchParams(query)}`));
  if (status === 401) ended();
  if (status !== 200) throw Object.assign(new Error(`the graph answered ${status}`), { status });
  return JSON.parse(text);
}

async function load(node, limit, relation = "") {
  const graph = await ask("graph", { node, limit, relation });
  asked.set(`${node} ${relation}`, limit);
  return graph;
}

function redraw() {
  picture.colours = controls.colours();
  if (picture.follows) picture.fit();
  picture.select(selected);
  list.draw(selected);
  legend();
}

function entry(mark, text) {
  const item = document.createElement("span");
  item.append(...(mark ? [mark] : []), text);
  return item;
}

function legend() {
  const { rule, legend: meanings } = picture.colours;
  const present = [...new Set(model.visible.map((node) => node.shape))];
  const items = present.map((name) => entry(shape(name, settings.outlines), settings.types[name] ?? name));
  if (model.lines.some((line) => !line.current)) {
    items.push(entry(Object.assign(document.createElement("span"), { className: "legend-ended" }), words.ended));
  }
  // Where colours mean something else, the outlines alone tell kinds apart.
  root.querySelector(".legend").dataset.rule = rule;
  if (rule !== "kind") items.push(entry(null, words[`colour_${rule}`]));
  for (const [colour, text] of meanings) {
    const dot = Object.assign(document.createElement("span"), { className: "legend-dot" });
    dot.style.background = `var(--${colour})`;
    items.push(entry(dot, text));
  }
  root.querySelector(".legend-kinds").replaceChildren(...items);
}

// ---------------------------------------------------------- filters and lenses

// The map, which knows what can be filtered by.
function chart() {
  atlas ??= ask("graph/map").then((drawn) => {
    if (isWhole) model.map(drawn);
    else model.know(drawn);
    controls.fill(drawn);
    return drawn;
  });
  atlas.catch(() => {
    atlas = null;
  });
  return atlas;
}

// Shows what the fields say, and through whose eyes.
async function apply() {
  const mine = ++turn;
  const { asker } = controls;
  let seen = null;
  if (asker) {
    seen = await ask("graph/seen", asker);
    if (mine !== turn) return;
  }
  controls.look(seen);
  tag();
  refresh();
}

// Judges everything anew, and says how much there is to see.
function refresh() {
  model.filter(controls.judge(), controls.count > 0);
  redraw();
  const values = { shown: model.visible.length, total: model.total };
  if (isWhole || controls.count > 0) say(isWhole ? words.whole : words.filtered, values);
}

// What the fields and the slider show beside themselves.
function tag() {
  const { count, day } = controls;
  root.querySelector(".lens-count").textContent = count ? String(count) : "";
  root.querySelector(".when-day").textContent = day || words.today;
  controls.slider.setAttribute("aria-valuetext", day || words.today);
  for (const field of form.querySelectorAll(".of-eyes")) field.hidden = !form.elements.eyes.value;
}

function attempt(work) {
  return work().catch((error) => {
    say(sorry(error));
    console.error(error);
  });
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault(); // what is usual does not stand in the fields as they were written
  controls.values = {};
  changed();
});
form.addEventListener("input", (event) => {
  if (event.target !== controls.slider) return;
  tag();
  clearTimeout(timer);
  timer = setTimeout(() => attempt(apply), controls.asker ? PAUSE : 0);
});
form.addEventListener("change", changed);

function changed() {
  clearTimeout(timer);
  attempt(apply).then(() => remember());
}

// ------------------------------------------------------------------- address

// Writes down what is shown, so that it can be shared and the way back leads here.
function remember() {
  const address = here();
  for (const key of [...FIELDS, "sel", "open", "way"]) address.searchParams.delete(key);
  for (const [key, value] of Object.entries(controls.values)) address.searchParams.set(key, value);
  if (selected !== null) address.searchParams.set("sel", selected);
  for (const id of model.expanded.keys()) {
    if (id !== model.centre) address.searchParams.append("open", id);
  }
  for (const end of ways.ends) address.searchParams.append("way", end);
  note(address, "pushState");
}

// Where one looks is no step of its own on the way back.
picture.addEventListener("rest", () => {
  const address = here();
  if (picture.follows) address.searchParams.delete("view");
  else address.searchParams.set("view", picture.middle.map((number) => Number(number.toPrecision(6))).join(" "));
  note(address);
});

function look(view) {
  const numbers = (view ?? "").split(" ").map(Number);
  if (numbers.length === 3 && numbers.every(Number.isFinite) && numbers[2] > 0) picture.middle = numbers;
}

// Shows what the address says.
async function restore() {
  const query = here().searchParams;
  const values = Object.fromEntries(FIELDS.flatMap((key) => (query.get(key) ? [[key, query.get(key)]] : [])));
  if (isWhole || Object.keys(values).length > 0) await chart();
  controls.values = values;
  const open = query.getAll("open");
  for (const id of model.expanded.keys()) {
    if (id !== model.centre && !open.includes(id)) model.collapse(id);
  }
  for (const id of open) {
    if (model.nodes.has(id) && !model.expanded.has(id)) model.add(await load(id, MORE));
  }
  const wanted = query.get("sel");
  selected = model.nodes.has(wanted) ? wanted : null;
  await apply();
  if (selected !== null) show(selected);
  const ends = query.getAll("way");
  if (ends.length === 2) await lead(ends);
  else ways.clear();
  look(query.get("view"));
}

addEventListener("popstate", () => attempt(restore));

// ----------------------------------------------------------------- selection

function select(id) {
  selected = id;
  picture.select(id);
  list.draw(id);
  if (id !== null) show(id);
  remember();
}

function show(id) {
  list.reveal(id);
  picture.reveal(id);
  if (isWhole) tell(id);
}

// Fills in what the facts of a node of the map say.
async function tell(id) {
  if (model.edgesOf(id).every((edge) => edge.statement !== undefined)) return;
  try {
    model.tell((await ask("graph", { node: id, limit: FIRST })).edges);
  } catch (error) {
    say(sorry(error));
    return;
  }
  if (selected === id) list.draw(id);
}

async function expand(id, limit = MORE, relation = "") {
  if (limit > MOST) {
    say(words.full);
    return;
  }
  const key = `${id} ${relation}`;
  if (opening.has(key)) return;
  opening.add(key);
  try {
    const graph = await load(id, limit, relation);
    if (!model.nodes.has(id)) return;
    const added = model.add(graph);
    say(words.added, { name: graph.centre.name, added, total: graph.total, shown: model.nodes.size });
  } catch (error) {
    say(sorry(error));
    return;
  } finally {
    opening.delete(key);
  }
  redraw();
  list.reveal(id);
  remember();
}

function collapse(id) {
  say(words.collapsed, { name: model.nodes.get(id).name });
  model.collapse(id);
  redraw();
  remember();
}

function more({ id, relation }) {
  const before = asked.get(`${id} ${relation}`) ?? (relation ? shownBy(id, relation) : 0);
  expand(id, before < MOST ? Math.min(MOST, before + FIRST) : before + 1, relation);
}

// How many neighbours of a relation are in the picture.
function shownBy(id, relation) {
  return model.edgesOf(id).filter(({ predicate }) => predicate === relation).length;
}

// ---------------------------------------------------------------------- ways

// Begins a way at a node, or ends one there.
function step(id) {
  if (list.start === null || list.start === id) {
    list.start = id;
    list.draw(selected);
    say(words.path_begun, { name: model.nodes.get(id).name });
    return;
  }
  const from = list.start;
  list.start = null;
  attempt(() => lead([from, id])).then(remember);
}

// Shows the shortest ways between two nodes, one of them at a time.
async function lead([a, b]) {
  const found = await ask("graph/path", { a, b });
  if (found.paths.length === 0) {
    list.draw(selected);
    say(words.no_path);
    return;
  }
  model.lead(found);
  ways.show([a, b], found);
}

ways.addEventListener("draw", () => {
  picture.path = ways.nodes;
  refresh();
  if (!ways.nodes.length) return;
  picture.follows = false;
  picture.fit(ways.nodes.map((id) => model.nodes.get(id)));
});
ways.addEventListener("select", ({ detail: id }) => select(id));
ways.addEventListener("end", () => {
  remember();
  list.element.querySelector("button")?.focus(); // the one that was pressed is gone
});

picture.addEventListener("pick", ({ detail: id }) => {
  if (id === null) {
    select(null);
  } else if (id === selected && id !== model.centre && model.expanded.has(id)) {
    collapse(id);
  } else {
    select(id);
    if (!isWhole && model.hasMore(id)) expand(id);
  }
});
picture.addEventListener("more", ({ detail }) => more(detail));
list.addEventListener("select", ({ detail: id }) => select(id));
list.addEventListener("expand", ({ detail: id }) => expand(id));
list.addEventListener("more", ({ detail }) => more(detail));
list.addEventListener("way", ({ detail: id }) => step(id));
list.addEventListener("light", ({ detail: { edge, on } }) => picture.light(edge, on));
list.addEventListener("collapse", ({ detail: id }) => collapse(id));

for (const button of root.querySelectorAll("[data-zoom]")) {
  button.addEventListener("click", () => {
    if (button.dataset.zoom === "save") {
      attempt(save);
    } else if (button.dataset.zoom === "fit") {
      picture.follows = true;
      picture.fit();
    } else {
      picture.zoom(button.dataset.zoom === "in" ? 1.35 : 1 / 1.35);
    }
  });
}

// A name that one of them on the map bears needs no other page.
document.querySelector("form[role=search]").addEventListener("submit", (event) => {
  const text = event.target.elements.q.value.trim().toLowerCase();
  const found = isWhole ? model.visible.filter(({ name }) => name.toLowerCase() === text) : [];
  if (found.length !== 1) return;
  event.preventDefault();
  const [{ id }] = found;
  picture.follows = false;
  picture.fit([id, ...model.neighbours(id)].map((each) => model.nodes.get(each)));
  select(id);
});

async function save() {
  const url = URL.createObjectURL(await picture.image());
  const day = new Date(Date.now() + settings.ahead * 1000).toISOString().slice(0, 10);
  Object.assign(document.createElement("a"), { href: url, download: `graph-${day}.png` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

try {
  if (settings.beside.length) {
    const nodes = [root.dataset.node, ...settings.beside];
    model.begin(await ask("graph/among", nodes.map((node) => ["node", node])));
  } else if (Number(root.dataset.depth) > 1) {
    model.begin(await ask("graph", { node: root.dataset.node, depth: root.dataset.depth, limit: MOST }));
  } else if (!isWhole) {
    model.add(await load(root.dataset.node, FIRST));
  }
  await restore();
  loading.hidden = true;
  root.querySelector(".zoom").hidden = false;
  form.hidden = false;
  picture.draw();
  root.dataset.ready = "yes";
  attempt(chart); // what the fields offer
} catch (error) {
  loading.textContent = sorry(error);
  console.error(error);
}
