// The time slider: what was known and true on a day, without leaving the page.

import { renew } from "./fragments.js";
import { here } from "./place.js";

const form = document.getElementById("eyes");
const slider = document.getElementById("e-slider");
const day = document.getElementById("e-day");
const now = document.getElementById("e-now");
const DAY = 86_400_000;
let timer = 0;

const isNow = () => slider.value === slider.max;

function moved() {
  const first = Date.parse(slider.dataset.first);
  day.value = new Date(first + Number(slider.value) * DAY).toISOString().slice(0, 10);
  if (isNow()) now.setAttribute("aria-disabled", "true");
  else now.removeAttribute("aria-disabled");
  slider.setAttribute("aria-valuetext", isNow() ? now.textContent : day.value);
}

async function look() {
  const address = here();
  for (const key of ["seen", "hidden", "day"]) address.searchParams.delete(key);
  if (!isNow()) address.searchParams.set("day", day.value);
  document.getElementById("sides").setAttribute("aria-busy", "true");
  try {
    await renew(address, ["balance", "sides"]);
  } catch (error) {
    form.requestSubmit(); // the server can say what is wrong
    throw error;
  }
}

function soon() {
  moved();
  clearTimeout(timer);
  timer = setTimeout(look, 120);
}

if (slider && document.getElementById("sides")) {
  slider.hidden = false;
  slider.addEventListener("input", soon);
  // Neither is a filter that the form should be sent for.
  for (const field of [slider, day]) {
    field.addEventListener("change", (event) => event.stopPropagation());
  }
  day.addEventListener("change", () => {
    const days = (Date.parse(day.value || slider.dataset.last) - Date.parse(slider.dataset.first)) / DAY;
    slider.value = String(Math.round(days));
    soon();
  });
  now.addEventListener("click", (event) => {
    event.preventDefault();
    slider.value = slider.max;
    soon();
    slider.focus();
  });
  moved();
}
