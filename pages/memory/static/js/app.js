// Small comforts; every page works without them.

import { HEARD, awaited, here, isNoting, note, tab } from "./place.js";

document.documentElement.classList.add("scripted");
const GOING = 1500; // within which a letter belongs to the g before it
const AGAIN = 4000; // after which what was not ready is asked for again

for (const form of document.querySelectorAll("form[data-submit-on-change]")) {
  form.addEventListener("change", (event) => {
    if (event.target instanceof HTMLSelectElement) form.requestSubmit();
  });
}

// Fields that ask for nothing need not be in the address.
for (const form of document.querySelectorAll("form[method=get]")) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}

// One press is one change.
let led; // says that a search is over
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "get" && !event.defaultPrevented) awaited(new Promise((over) => { led = over; }));
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  // What takes a while shows that it was heard.
  setTimeout(() => {
    if (form.dataset.sent) (event.submitter ?? form).setAttribute("aria-busy", "true");
  }, form.matches("[data-slow]") ? 0 : HEARD);
});
for (const link of document.querySelectorAll("a[data-slow]")) {
  link.addEventListener("click", () => link.setAttribute("aria-busy", "true"));
}
function ready() {
  led?.();
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const busy of document.querySelectorAll("[aria-busy]")) busy.removeAttribute("aria-busy");
}
addEventListener("pageshow", ready);
window.navigation?.addEventListener("navigateerror", () => isNoting || ready()); // such as by the browser's Stop

// What an input method is asked for, such as a character by its pinyin, is no key of ours.
// Safari says so only by 229, of the Enter that ends it.
addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
}, true);

const keys = document.getElementById("keys");
let going = -Infinity; // when g was pressed

// g and a letter: to one of the main pages, whatever the letter does on this one.
function jump(event) {
  const place = event.timeStamp - going < GOING ? document.querySelector(`[data-jump="${CSS.escape(event.key)}"]`) : null;
  going = event.key === "g" ? event.timeStamp : -Infinity;
  if (!place) return false;
  event.stopImmediatePropagation();
  event.preventDefault();
  place.click();
  return true;
}

addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("select, textarea, input:not([type=checkbox])");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || jump(event)) return;
  if (event.key === "?" && keys && !keys.open) keys.showModal();
  if (event.key !== "/") return;
  const search = document.querySelector("[data-slash]");
  if (search) {
    event.preventDefault();
    search.select();
  }
});

// What was typed waits for its form only while somebody logs in (typed.js).
if (here().pathname !== "/login" && !document.querySelector("[data-typed]")) tab?.removeItem("typed");

// After too many wrong keys the next try has to wait, and is seen to.
const waiting = document.querySelector("[data-wait]");
if (waiting) {
  const button = waiting.closest("form").querySelector("button");
  let left = Number(waiting.dataset.wait);
  button.disabled = true;
  waiting.setAttribute("aria-live", "off"); // said once, not each second
  const timer = setInterval(() => {
    left -= 1;
    waiting.textContent = waiting.dataset.text.replace("{}", String(Math.max(0, left)));
    if (left > 0) return;
    clearInterval(timer);
    button.disabled = false;
    waiting.remove();
  }, 1000);
}

// The browser keeps the page behind a dialog out of reach; Tab stays within it as well.
keys?.addEventListener("keydown", (event) => {
  if (event.key !== "Tab") return;
  const stops = [...keys.querySelectorAll("a[href], button, input, select, textarea")];
  const [end, other] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  if (document.activeElement === end || !stops.includes(document.activeElement)) {
    event.preventDefault();
    other.focus();
  }
});
for (const button of document.querySelectorAll("[data-opens=keys]")) {
  button.hidden = false;
  button.addEventListener("click", () => keys.showModal());
}

// What a form asks before it does something has no address: the way back leads past it.
const asked = document.querySelector("[data-back]");
if (asked) note(asked.dataset.back);

if (document.querySelector("[data-soon]")) setTimeout(() => location.reload(), AGAIN);
