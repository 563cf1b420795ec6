// What is said, learned and recalled meanwhile appears by itself.
//
// [data-live="messages changes"] names what a part of the page (#live) shows anew, and with it
// every other [data-live]; nothing moves while the pointer is on what can be pressed, and
// [data-calm] waits until it is elsewhere. [data-news="changes"] names what only a note tells of.

import { read, replace } from "./fragments.js";
import { EVERY, ended, here, look } from "./place.js";

const part = () => document.getElementById("live");
const news = document.querySelector("[data-news]");
const lost = document.querySelector("[data-lost]");
let shown = marks(document);
let timer = 0;
let missed = 0;

// What had happened last when a page was written.
function marks(page) {
  return JSON.parse(page.body.dataset.marks);
}

const isBusy = () => part().matches("[data-calm]:hover") || part().querySelector(":focus:is(input, select, textarea, button), [aria-busy=true], :is(a, button, summary):hover") || !getSelection().isCollapsed;

// Links that lead to the same place, or all summaries.
const alike = (stop) => [...part().querySelectorAll(stop.href ? `a[href="${CSS.escape(stop.getAttribute("href"))}"]` : "summary")];

async function show() {
  const page = await read(here());
  if (isBusy()) return; // by now
  const stop = part().contains(document.activeElement) ? document.activeElement : null;
  const place = stop && alike(stop).indexOf(stop);
  const open = [...part().querySelectorAll("details[id]")].map((each) => [each.id, each.open]);
  shown = marks(page);
  replace(page, [...document.querySelectorAll("[data-live]")].map(({ id }) => id));
  for (const [id, isOpen] of open) document.getElementById(id)?.toggleAttribute("open", isOpen);
  if (stop) alike(stop)[place]?.focus({ preventScroll: true });
}

async function compare(now) {
  const differs = (names) => names.split(" ").some((name) => now[name] !== shown[name]);
  if (news && differs(news.dataset.news)) news.hidden = false;
  if (part()?.dataset.live && differs(part().dataset.live) && !isBusy()) await show();
}

async function follow() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    const { status, text } = await look();
    ended(status === 401);
    if (![200, 401].includes(status)) throw new Error(`it answered ${status}`);
    missed = 0;
    if (status === 200) await compare(JSON.parse(text)).catch(() => {}); // what is gone stays shown
  } catch {
    missed += 1;
  }
  lost.hidden = missed < 2; // a server that is reloaded is soon back
  clearTimeout(timer); // which another look may have set meanwhile
  timer = setTimeout(follow, EVERY);
}

document.addEventListener("visibilitychange", follow);
follow();
