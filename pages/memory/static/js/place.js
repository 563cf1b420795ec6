// Where a page is and how it asks: by its own address, or in AstrBot's dashboard, whose frame
// has neither our addresses nor our cookies and asks through the dashboard (page.js).

const bridge = window.AstrBotPluginView ?? window.AstrBotPluginPage;
const NOWHERE = "http://memory.invalid";

export const EVERY = 1500; // milliseconds between two looks for something new
export const isFramed = Boolean(bridge);
// What is kept for a tab; a frame may keep nothing.
export const tab = isFramed ? null : sessionStorage;

export const HEARD = 400; // milliseconds after which what has not led on yet is seen to work
let waiting = 0;

// Shows that the page waits for an answer, once that takes a moment.
export async function awaited(answer) {
  waiting += 1;
  setTimeout(() => document.documentElement.toggleAttribute("data-waiting", waiting > 0), HEARD);
  return answer.finally(() => {
    waiting -= 1;
    if (!waiting) document.documentElement.removeAttribute("data-waiting");
  });
}

// Says that the login has ended, or has not, and where one logs in again.
export function ended(isOver = true) {
  document.getElementById("login-ended")?.toggleAttribute("hidden", !isOver);
}

const own = () => new URLSearchParams(location.search);

// The address of the page that is shown.
export function here() {
  return isFramed ? new URL(own().get("at") ?? "/", NOWHERE) : new URL(location.href);
}

// What stands in the browser for an address of ours.
function outer(address) {
  if (!isFramed) return new URL(address, location.href);
  const frame = new URL(location.href);
  const { pathname, search, hash } = new URL(address, here());
  frame.searchParams.set("at", pathname + search);
  frame.hash = hash;
  return frame;
}

export function go(address, how = "assign") {
  const next = outer(address);
  const isHere = next.hash && next.href.split("#")[0] === location.href.split("#")[0];
  location[how](next);
  if (isHere) location.reload();
}

export let isNoting = false;

// Writes down that a page shows something else now.
export function note(address, how = "replaceState") {
  const next = outer(address);
  if (next.href === location.href) return;
  isNoting = true; // the browser tells it like a stop to what is being opened, which goes on
  history[how](null, "", next);
  isNoting = false;
}

// Asks for an address of ours: {status, text}, in a frame with {location, flash} as well.
export async function ask(address, more = {}) {
  if (!isFramed) {
    const response = await fetch(address);
    return { status: response.status, text: await response.text() };
  }
  const { pathname, search } = new URL(address, here());
  const { isDark } = bridge.getContext() ?? {};
  const language = bridge.getLocale().startsWith("zh") ? "zh" : "en";
  return bridge.apiPost("web", { path: pathname + search, language, theme: isDark ? "dark" : "light", ...more });
}

// Has AstrBot pass on a file, one way or the other.
export const pass = {
  in: (file, proof) => bridge.upload(`imports/${proof}`, file),
  out: (name) => bridge.download(`exports/${encodeURIComponent(name)}`, {}, name),
};

// What has happened to the memory up to now: {status, text}.
export const look = () => ask("/api/v1/events/now");
