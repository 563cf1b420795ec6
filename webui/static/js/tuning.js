// The knobs: curve and lists follow while one turns. The formula is the server's.

const root = document.getElementById("tuning");
const knobs = document.getElementById("knobs");
const keep = document.getElementById("keep");
const number = new Intl.NumberFormat(document.documentElement.lang);
const NAMES = ["rate", "threshold", "interval"];
const RANGES = { rate: 4, threshold: 0.9, interval: 168 }; // what a slider reaches
let timer = 0;
let asked = 0;

const field = (name) => document.getElementById(`k-${name}`);
const value = (name) => Number(field(name).value);
const inUse = (name) => Number(field(name).dataset.inUse);

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

// A slider under each number, for the thumb; the number says the same.
for (const name of NAMES) {
  const range = document.createElement("input");
  const { min, dataset } = field(name);
  Object.assign(range, { type: "range", min, max: RANGES[name], step: dataset.step, className: "slider range" });
  range.value = field(name).value;
  range.setAttribute("aria-hidden", "true");
  range.tabIndex = -1;
  range.addEventListener("input", () => {
    field(name).value = range.value;
    turned();
  });
  field(name).step = dataset.step;
  field(name).addEventListener("input", () => {
    range.value = field(name).value;
    turned();
  });
  field(name).after(range);
}
knobs.addEventListener("submit", (event) => {
  event.preventDefault();
  turned();
});

function turned() {
  clearTimeout(timer);
  const wrong = NAMES.filter((name) => field(name).value === "" || field(name).validity.rangeUnderflow
    || field(name).validity.rangeOverflow || (name === "interval" && !Number.isInteger(value(name))));
  for (const name of NAMES) field(name).toggleAttribute("aria-invalid", wrong.includes(name));
  if (wrong.length) {
    keep.hidden = true;
    return;
  }
  timer = setTimeout(ask, 90);
}

async function ask() {
  const turn = ++asked;
  try {
    const query = new URLSearchParams({ rate: value("rate"), threshold: value("threshold") });
    const response = await fetch(`/api/v1/tuning?${query}`);
    if (!response.ok) throw new Error(`tuning answered ${response.status}`);
    const found = await response.json();
    if (turn !== asked) return;
    draw(found);
    for (const forecast of found.forecasts) list(forecast);
    offer(found.forecasts[0].total);
  } catch (error) {
    if (turn === asked) document.querySelector(".knobs-note").textContent = root.dataset.failed;
    throw error;
  }
}

function draw({ lines, floor, width }) {
  const curve = document.getElementById("curve");
  document.getElementById("floor").setAttribute("d", `M0 ${floor}H${width}`);
  document.getElementById("floor-name").setAttribute("y", String(floor - 6));
  const [paths, dots] = [curve.querySelectorAll(".decay"), curve.querySelectorAll(".mark-dot")];
  const lasts = document.querySelectorAll("[data-lasts]");
  lines.forEach((line, index) => {
    paths[index].setAttribute("points", line.points);
    const [x, y] = line.mark ?? [0, 0];
    dots[index].setAttribute("cx", x);
    dots[index].setAttribute("cy", y);
    dots[index].setAttribute("visibility", line.mark ? "visible" : "hidden");
    const { days, forever } = lasts[index].dataset;
    lasts[index].textContent = line.days === null
      ? forever
      : fill(days, { count: number.format(Math.round(line.days)) });
  });
}

function list({ days, total, in_use: before, items }) {
  const span = root.querySelector(`[data-span="${days}"]`);
  span.toggleAttribute("data-worse", total > before);
  span.querySelector(".span-figure").textContent = number.format(total);
  const note = span.querySelector(".span-now");
  note.textContent = fill(note.dataset.words, { count: number.format(before) });
  span.querySelector(".span-list").replaceChildren(...items.map((fact) => {
    const [item, link, text] = ["li", "a", "bdi"].map((name) => document.createElement(name));
    link.href = `/memories/${encodeURIComponent(fact.id)}`;
    text.textContent = fact.statement;
    link.append(text);
    item.append(link);
    return item;
  }));
  const more = span.querySelector(".span-more");
  const left = total - items.length;
  more.textContent = total === 0
    ? more.dataset.none
    : left > 0 ? fill(more.dataset.words, { count: number.format(left) }) : "";
}

function offer(fadesNow) {
  keep.hidden = NAMES.every((name) => value(name) === inUse(name));
  root.querySelector(".off").hidden = value("interval") !== 0;
  for (const name of NAMES) {
    const change = keep.querySelector(`[data-value="${name}"]`);
    change.toggleAttribute("data-changed", value(name) !== inUse(name));
    change.querySelector(".keep-new").textContent = String(value(name));
    const hidden = document.getElementById("save")?.elements[name];
    if (hidden) hidden.value = String(value(name));
  }
  const now = keep.querySelector(".keep-now");
  now.hidden = fadesNow === 0 || value("interval") === 0;
  now.textContent = fill(now.dataset.words, { count: number.format(fadesNow) });
  const address = new URL(location.href);
  for (const name of NAMES) {
    if (value(name) === inUse(name)) address.searchParams.delete(name);
    else address.searchParams.set(name, String(value(name)));
  }
  history.replaceState(null, "", address);
}
