// Ctrl-K: pages, people and things by a part of their names, by pinyin as well.

import { read } from "./fragments.js";

const palette = document.getElementById("palette");
const field = document.getElementById("palette-q");
const found = document.getElementById("palette-found");
let timer = 0;
let turn = 0;

const links = () => [...palette.querySelectorAll("li:not([hidden]) > a")];

async function look() {
  const text = field.value.trim();
  const own = (turn += 1);
  for (const place of palette.querySelectorAll("[data-place]")) {
    place.hidden = !place.textContent.toLowerCase().includes(text.toLowerCase());
  }
  const page = text ? await read(`/people?${new URLSearchParams({ q: text })}`).catch(() => null) : null;
  if (own !== turn) return false;
  const items = [...(page?.querySelectorAll("#content .chips > li > a") ?? [])].slice(0, 12).map((link) => {
    const item = document.createElement("li");
    item.append(document.adoptNode(link));
    return item;
  });
  const none = page && !items.length ? page.querySelector("#content .results-title") : null;
  if (none) items.push(Object.assign(document.createElement("li"), { textContent: none.textContent }));
  const ended = document.querySelector("#login-ended:not([hidden]) a");
  if (ended) {
    items.push(document.createElement("li"));
    items.at(-1).append(ended.cloneNode(true));
  }
  found.replaceChildren(...items);
  return true;
}

field?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(look, 150);
});

palette?.addEventListener("keydown", (event) => {
  const all = links();
  const here = all.indexOf(document.activeElement);
  if (event.key === "Enter" && here < 0) {
    clearTimeout(timer); // what was typed counts, not what is still shown of before
    look().then((isFound) => isFound && links()[0]?.click());
  }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const next = here + (event.key === "ArrowDown" ? 1 : -1);
  (next < 0 ? field : all[Math.min(next, all.length - 1)])?.focus();
});

addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || !palette) return;
  event.preventDefault();
  if (!palette.open) palette.showModal();
  field.select();
});
