// The memory page in AstrBot's dashboard. Its frame opens no windows, has no cookies and may
// ask nobody: the dashboard, which knows who is logged in, passes on what is asked. Each
// address is a document of its own, ?at=/memories, so that scripts run anew and the way back
// works. Where there is no memory page, it says why.

import { ask, awaited, go, here, pass } from "./static/js/place.js";

const bridge = window.AstrBotPluginView ?? window.AstrBotPluginPage;
const element = (id) => document.getElementById(id);

function say(key, values = {}) {
  const text = bridge.t(`pages.memory.${key}`, key);
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// ------------------------------------------------------------- pages of ours

// Where a file of ours is for the frame: AstrBot may want its token with it.
function file(path) {
  const address = new URL(`.${path}`, import.meta.url);
  const token = new URLSearchParams(location.search).get("asset_token");
  if (token) address.searchParams.set("asset_token", token);
  return address.href;
}

// Nothing but our own files runs here, and nothing is sent anywhere.
function shut() {
  const { origin } = new URL(import.meta.url);
  const rule = document.createElement("meta");
  rule.httpEquiv = "Content-Security-Policy";
  rule.content = `default-src 'none'; script-src ${origin}; style-src ${origin}; img-src ${origin} blob:; form-action 'none'`;
  document.head.append(rule);
}

const loaded = (link) => new Promise((done) => { link.onload = done; link.onerror = done; });

async function install(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const scripts = [...page.querySelectorAll("script[src]")].map((script) => script.getAttribute("src"));
  const styles = [...page.querySelectorAll("link[rel=stylesheet]")];
  for (const unwanted of page.querySelectorAll("script, link:not([rel=stylesheet]), meta[http-equiv]")) unwanted.remove();
  const first = page.querySelector("[autofocus]"); // which browsers refuse to a frame
  for (const field of page.querySelectorAll("[autofocus]")) field.removeAttribute("autofocus");
  for (const link of styles) link.href = file(link.getAttribute("href"));
  const ready = styles.map(loaded);
  element("plain-style")?.remove();
  document.head.append(...page.head.childNodes);
  await Promise.all(ready);
  document.documentElement.lang = page.documentElement.lang;
  document.documentElement.dataset.theme = page.documentElement.dataset.theme;
  document.body.replaceWith(document.adoptNode(page.body));
  for (const path of scripts) {
    document.head.append(Object.assign(document.createElement("script"), { type: "module", src: file(path), async: false }));
  }
  first?.focus();
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

// Shows what was answered, or goes where it leads; the next document finds it in its name.
function follow(answer, address, how) {
  window.name = JSON.stringify({ flash: answer.flash, answer: answer.location ? null : answer });
  go(answer.location || address, how);
}

addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const href = link?.getAttribute("href") ?? "#";
  if (event.defaultPrevented || href.startsWith("#") || href.startsWith("blob:")) return;
  event.preventDefault();
  if (!link.hasAttribute("download")) go(href);
  else pass.out(decodeURIComponent(href.split("/").at(-1))).catch(({ message }) => { link.textContent = message; });
});

addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || form.method === "dialog") return;
  event.preventDefault();
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  const address = new URL(action || here(), here());
  const fields = String(new URLSearchParams(new FormData(form, submitter)));
  if (form.method !== "post") {
    address.search = fields;
    go(address);
  } else if (!form.dataset.sent) {
    await awaited(ask(address, { form: fields })).then((answer) => follow(answer, address), (error) => refused(form, error));
  }
});

// What was typed stays, to be sent once the plugin answers again.
function refused(form, { message }) {
  form.querySelector(".away-now")?.remove();
  const textContent = say("away", { problem: message });
  form.append(Object.assign(document.createElement("p"), { className: "error away-now", role: "alert", textContent }));
  dispatchEvent(new Event("pageshow")); // nothing is under way any more
}

// ------------------------------------------------------------------- the start

// Why there is no memory page.
async function sorry() {
  document.documentElement.lang = bridge.getLocale();
  element("plain").hidden = false;
  try {
    const { off, problem } = await bridge.apiGet("page");
    element("problem").textContent = off ? say("off") : say("problem", { problem });
  } catch (error) {
    element("problem").textContent = say("away", { problem: error.message });
  }
}

async function start() {
  await bridge.ready();
  let kept = {};
  try {
    kept = JSON.parse(window.name);
  } catch { /* nothing was left for this page */ }
  window.name = "";
  let answer = kept.answer;
  try {
    answer ??= await awaited(ask(here(), { flash: kept.flash ?? "" }));
  } catch {
    await sorry();
    return;
  }
  if (answer.location) follow(answer, here(), "replace");
  else if (!answer.text) await sorry();
  else {
    shut();
    await install(answer.text);
  }
}

start();
