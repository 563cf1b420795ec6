// What was typed survives a login that ended meanwhile: it waits in this tab for its form.

import { here, tab } from "./place.js";

const KEPT = "typed";
const form = document.querySelector("form[data-typed]");
const address = here().pathname + here().search;
const kept = JSON.parse(tab?.getItem(KEPT) ?? "null");

tab?.removeItem(KEPT);
// A form that the server shows again has what was typed already, or needs it no more.
const isShownAgain = document.querySelector("[role=alert], .done") !== null;
if (kept?.here === address && !isShownAgain) {
  for (const [name, value] of kept.fields) {
    const field = form.elements.namedItem(name);
    if (field?.type === "checkbox") field.checked = true;
    else if (field) field.value = value;
  }
  document.querySelector("[data-typed-note]").hidden = false;
}

function keep() {
  tab?.setItem(KEPT, JSON.stringify({ here: address, fields: [...new FormData(form)].filter(([name]) => name !== "csrf") }));
}
form.addEventListener("submit", keep);
document.querySelector("#login-ended a").addEventListener("click", keep);
