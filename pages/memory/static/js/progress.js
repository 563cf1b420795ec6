// Long work shows how far it is; when it has ended the page is read anew and says how.

import { ask } from "./place.js";

const EVERY = 1000; // milliseconds between two looks
const shown = [...document.querySelectorAll("[data-progress]")];

function draw(part, { done, total }) {
  const bar = part.querySelector("progress");
  if (total) Object.assign(bar, { max: total, value: done });
  part.querySelector("[data-done]").textContent = done.toLocaleString("en");
  part.querySelector("[data-total]").textContent = total ? ` / ${total.toLocaleString("en")}` : "";
}

async function follow() {
  const { status, text } = await ask("/api/v1/work").catch(() => ({ status: 0 }));
  if (status === 200) {
    const now = JSON.parse(text);
    if (shown.some((part) => !now[part.dataset.progress])) {
      location.reload();
      return;
    }
    for (const part of shown) draw(part, now[part.dataset.progress]);
  }
  if (status !== 401) setTimeout(follow, EVERY);
}

if (shown.length) setTimeout(follow, EVERY / 2);
