// What is said, learned and recalled meanwhile appears by itself.
//
// [data-live="messages changes"] names what a part of the page (#live) shows anew, and with it
// every other [data-live]; [data-calm] waits until no pointer is on it. [data-news="changes"]
// names what only a note tells of.

import { read, replace } from "./fragments.js";
import { events, here } from "./place.js";

const part = () => document.getElementById("live");
const news = document.querySelector("[data-news]");
const lost = document.querySelector("[data-lost]");
const WAIT = 300; // milliseconds; what comes together is shown together
const REST = 2000; // from one time to the next, or until a reader may be done with a field
const GRACE = 2500; // a stream that ends in time is asked for again before that
let source = null;
let shown = counts(document);
let timer = 0;
let next = 0;
let cut = 0;

// What had happened when a page was written.
function counts(page) {
  return JSON.parse(page.body.dataset.counts);
}

const isBusy = () => part().matches("[data-calm]:hover") || part().querySelector(":focus:is(input, select, textarea, button), [aria-busy=true]") || !getSelection().isCollapsed;

async function show() {
  if (isBusy()) {
    timer = setTimeout(show, REST);
    return;
  }
  next = Date.now() + REST;
  const focus = part().contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const open = [...part().querySelectorAll("details[id][open]")].map(({ id }) => id);
  try {
    const page = await read(here());
    replace(page, [...document.querySelectorAll("[data-live]")].map(({ id }) => id));
    shown = counts(page);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  } catch {
    return; // stopped again: shown when the server is next heard of
  }
  if (focus) document.querySelector(`#live a[href="${CSS.escape(focus)}"]`)?.focus();
}

function heard({ data }) {
  clearTimeout(cut);
  cut = 0;
  lost.hidden = true;
  const now = JSON.parse(data);
  const differs = (names) => now.run !== shown.run || names.split(" ").some((name) => now[name] !== shown[name]);
  if (part()?.dataset.live && differs(part().dataset.live)) {
    clearTimeout(timer);
    timer = setTimeout(show, Math.max(WAIT, next - Date.now()));
  }
  if (news && differs(news.dataset.news)) news.hidden = false;
}

// Whether pages ask for the key again.
async function isLoggedOut() {
  try {
    return (await fetch(location.href, { redirect: "manual" })).type === "opaqueredirect";
  } catch {
    return false;
  }
}

async function interrupted() {
  cut ||= setTimeout(() => { lost.hidden = false; }, GRACE);
  if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
  source = null;
  if (await isLoggedOut()) {
    clearTimeout(cut);
    lost.hidden = true;
    document.querySelector("[data-ended]").hidden = false;
  } else {
    setTimeout(listen, REST);
  }
}

function listen() {
  if (document.hidden) {
    source?.close();
    source = null;
  } else if (!source) {
    source = events();
    source.addEventListener("message", heard);
    source.addEventListener("error", interrupted);
  }
}

document.addEventListener("visibilitychange", listen);
addEventListener("pagehide", () => source?.close());
listen();
