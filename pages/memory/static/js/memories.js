// Rows by keyboard, and what is selected among them. Without this all of it works by
// pointer and Tab.

import { here } from "./place.js";

const form = document.querySelector("[data-bulk]");
const rows = () => [...document.querySelectorAll(".memories > tbody > tr, .inbox > li")];

// ------------------------------------------------------------------ selection

function boxes() {
  return rows().map((row) => row.querySelector("input[name=id]"));
}

function showSelection() {
  const chosen = boxes().filter((box) => box.checked).length;
  const all = form.querySelector("[data-all]");
  const every = form.elements.every; // what other pages show as well
  all.checked = chosen > 0 && chosen === boxes().length;
  all.indeterminate = chosen > 0 && chosen < boxes().length;
  if (every) {
    every.checked &&= all.checked;
    every.closest("label").hidden = !all.checked;
  }
  form.classList.toggle("selecting", chosen > 0);
  const count = form.querySelector(".bulk-count");
  count.textContent = chosen ? count.dataset.text.replace("{count}", every?.checked ? every.dataset.count : chosen) : "";
  for (const row of rows()) {
    row.toggleAttribute("data-selected", row.querySelector("input[name=id]").checked);
  }
}

if (form) {
  let last = null;
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) {
      for (const box of boxes()) box.checked = event.target.checked;
    }
    showSelection();
  });
  // Shift selects all from the last one that was pressed.
  form.addEventListener("click", (event) => {
    if (!event.target.matches("input[name=id]")) return;
    const list = boxes();
    const here = list.indexOf(event.target);
    if (event.shiftKey && last !== null) {
      const [from, to] = [Math.min(last, here), Math.max(last, here)];
      for (const box of list.slice(from, to + 1)) box.checked = event.target.checked;
      showSelection();
    }
    last = here;
  });
  form.addEventListener("reset", () => setTimeout(showSelection));
  addEventListener("pageshow", showSelection);
  // What was pressed before this ran, counts.
  if (form.querySelector("[data-all]").checked) for (const box of boxes()) box.checked = true;
  showSelection();
}

// ------------------------------------------------------------------------ menus

document.addEventListener("toggle", (event) => {
  if (!event.target.matches?.("details.menu[open]")) return;
  for (const other of document.querySelectorAll("details.menu[open]")) {
    if (other !== event.target) other.open = false;
  }
}, true);
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

// ------------------------------------------------------------------------- keys

function current() {
  return rows().findIndex((row) => row.contains(document.activeElement));
}

function go(step) {
  const here = current();
  const all = rows();
  const next = here < 0 ? (step > 0 ? 0 : all.length - 1) : here + step;
  const row = all[Math.min(all.length - 1, Math.max(0, next))];
  row?.querySelector(".row-link").focus();
  row?.scrollIntoView({ block: "nearest" });
}

const acts = {
  j: () => go(1),
  ArrowDown: () => go(1),
  k: () => go(-1),
  ArrowUp: () => go(-1),
  x: () => rows()[current()]?.querySelector("input[name=id]")?.click(),
};

function close() {
  const menu = document.querySelector("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (form?.classList.contains("selecting")) {
    form.reset();
  }
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest?.("select, textarea, input:not([type=checkbox])")) return;
  // Else it presses the first button of the form, which is one of another row.
  if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
  if (event.key === "Escape") {
    close();
    return;
  }
  // Arrows belong to an open menu, and scroll where no row is in focus.
  if (event.key.startsWith("Arrow") && (current() < 0 || event.target.closest("details[open]"))) return;
  const marked = rows()[current()]?.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  const act = marked ? () => marked.click() : acts[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

// What was just decided is gone; what has come into its place is ready for its key.
const review = document.querySelector("form.review");
review?.addEventListener("submit", ({ submitter }) => {
  const place = rows().findIndex((row) => row.contains(submitter));
  if (place >= 0) review.elements.back.value = `/review?at=${place}`;
});
if (review && document.querySelector(".done")) rows()[Math.min(Number(here().searchParams.get("at")), rows().length - 1)]?.querySelector(".row-link").focus();
