// What is said, learned and recalled meanwhile appears by itself.
//
// [data-live="messages changes"] names what a part of the page (#live) shows anew, and
// [data-news="changes"] what only a note tells of.

import { read, replace } from "/static/js/fragments.js";

const part = () => document.getElementById("live");
const news = document.querySelector("[data-news]");
const lost = document.querySelector("[data-lost]");
const WAIT = 300; // milliseconds; what comes together is shown together
const REST = 2000; // from one time to the next, or until a reader may be done with a field
let source = null;
let known = null;
let timer = 0;
let next = 0;

const isBusy = () => part().querySelector(":focus:is(input, select, textarea), [aria-busy=true]") || !getSelection().isCollapsed;

async function show() {
  if (isBusy()) {
    timer = setTimeout(show, REST);
    return;
  }
  next = Date.now() + REST;
  const focus = part().contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  try {
    replace(await read(location.href), ["live"]);
  } catch {
    return; // logged out, or stopped again: the next event tries anew
  }
  if (focus) document.querySelector(`#live a[href="${CSS.escape(focus)}"]`)?.focus();
}

function heard({ data }) {
  lost.hidden = true;
  const now = JSON.parse(data);
  const differs = (names) => names.split(" ").some((name) => now.run !== known.run || now[name] !== known[name]);
  if (known && part()?.dataset.live && differs(part().dataset.live)) {
    clearTimeout(timer);
    timer = setTimeout(show, Math.max(WAIT, next - Date.now()));
  }
  if (known && news && differs(news.dataset.news)) news.hidden = false;
  known = now;
}

function listen() {
  if (document.hidden) {
    source?.close();
    source = null;
  } else if (!source) {
    source = new EventSource("/api/v1/events");
    source.addEventListener("message", heard);
    source.addEventListener("error", () => {
      lost.hidden = false;
      // A login that has ended is no interruption: the browser does not try again by itself.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { source = null; listen(); }, REST);
    });
  }
}

document.addEventListener("visibilitychange", listen);
addEventListener("pagehide", () => source?.close());
listen();
