// The knobs: curve and lists follow while one turns. The formula is the server's.

import { renew } from "./fragments.js";
import { here } from "./place.js";

const root = document.getElementById("tuning");
const knobs = document.getElementById("knobs");
const NAMES = ["rate", "threshold", "interval"];
const RANGES = { rate: 4, threshold: 0.9, interval: 168 }; // what a slider reaches
let timer = 0;

const field = (name) => document.getElementById(`k-${name}`);

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
  timer = setTimeout(ask, 90);
}

async function ask() {
  const address = here();
  for (const name of NAMES) {
    const { value, dataset } = field(name);
    if (Number(value) === Number(dataset.inUse)) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  try {
    const page = await renew(address, ["drawn", "fade", "keep", "last-run", ...NAMES.map((name) => `h-${name}`)]);
    for (const name of page ? NAMES : []) field(name).ariaInvalid = page.getElementById(`k-${name}`).ariaInvalid;
  } catch (error) {
    document.getElementById("last-run").textContent = root.dataset.failed;
    throw error;
  }
}
