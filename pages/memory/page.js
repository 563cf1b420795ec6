// A signpost to the web UI. The dashboard's frame opens no windows, so the address can be
// copied as well. Everything shown is text, never markup.
"use strict";

const bridge = window.AstrBotPluginView ?? window.AstrBotPluginPage;
const LOOPBACK = /^http:\/\/(127\.|\[::1\])/;
const element = (id) => document.getElementById(id);

function say(key, values = {}) {
  const text = bridge.t(`pages.memory.${key}`, key);
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

function show(id, text) {
  element(id).textContent = text;
  element(id).hidden = !text;
}

// Whoever reads the dashboard from elsewhere reaches the web UI at the dashboard's host.
function reachable(state) {
  if (!state.exposed || !LOOPBACK.test(state.address) || !location.hostname) return state.address;
  const address = new URL(state.address);
  address.hostname = location.hostname;
  return address.origin;
}

function render(state) {
  document.documentElement.lang = bridge.getLocale();
  const { fact, messages } = state.counts;
  show("counts", fact === undefined ? "" : say("counts", { facts: fact, messages }));
  show("problem", state.problem ? say("problem", { problem: state.problem }) : state.off ? say("off") : "");
  element("found").hidden = !state.address;
  if (!state.address) return;
  const address = reachable(state);
  element("address").href = address;
  element("address").textContent = address;
  show("copy", say("copy"));
  const isLocal = LOOPBACK.test(address) && !state.exposed;
  show("how", say(isLocal ? "how_local" : "how", { port: new URL(address).port }));
  show("exposed", state.exposed ? say("exposed") : "");
}

// The frame has no right to the clipboard, but a selection may be copied on a click.
function copy() {
  const selection = getSelection();
  selection.selectAllChildren(element("address"));
  const isCopied = document.execCommand("copy");
  element("copied").textContent = say(isCopied ? "copied" : "select");
}

async function start() {
  await bridge.ready();
  element("copy").addEventListener("click", copy);
  let state;
  try {
    state = await bridge.apiGet("page");
  } catch (error) {
    show("problem", say("away", { problem: error.message }));
    return;
  }
  render(state);
  bridge.onContext(() => render(state));
}

start();
