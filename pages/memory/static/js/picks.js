// Lists whom a name may mean while it is typed; without this, the server asks where it is unclear.

import { read, replace } from "./fragments.js";
import { here } from "./place.js";

const form = document.querySelector("form[data-typed]");
const fields = [...form.querySelectorAll("[data-picks]")];
const asked = new Map();
let timer = 0;

async function list(field) {
  const turn = (asked.get(field) ?? 0) + 1;
  asked.set(field, turn);
  const address = new URL(here().pathname, here());
  address.searchParams.set(field.name, field.value);
  const session = form.elements.namedItem("session");
  if (session) address.searchParams.set("session", session.value);
  const page = await read(address);
  if (turn === asked.get(field)) replace(page, [`${field.id}-picks`]);
}

for (const field of fields) {
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(list, 150, field);
  });
}
form.elements.namedItem("session")?.addEventListener("change", () => {
  for (const field of fields) if (field.value) list(field);
});
