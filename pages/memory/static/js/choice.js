// What there is to choose from is searched: by a part of what it says, its pinyin, or an account.
//
// select[data-search] stays what is sent, and what there is without this. data-more="/people"
// is a page that finds what the list does not hold. Lists that are filled later, are searched then.
// input[data-picks] is a name that may mean somebody: the server lists whom while it is typed.

import { read, replace } from "./fragments.js";
import { here } from "./place.js";

const FEW = 10; // options that are found at a glance
const MOST = 100; // options that are shown at once
const PAUSE = 150; // milliseconds without a key before the server is asked
const ID = 4; // characters from which an account is meant

// Whether small letters spell syllables in a row, some letters of each.
function spells(typed, sounds) {
  const goesOn = (rest, place) => {
    const sound = sounds[place] ?? "";
    for (let end = 1; end <= sound.length && rest.startsWith(sound.slice(0, end)); end += 1) {
      if (end === rest.length || goesOn(rest.slice(end), place + 1)) return true;
    }
    return false;
  };
  return sounds.some((_, place) => goesOn(typed, place));
}

function fits(option, typed) {
  if (option.text.toLowerCase().includes(typed)) return true;
  if (typed.length >= ID && option.value.toLowerCase().includes(typed)) return true;
  return /^[a-z]+$/.test(typed) && spells(typed, (option.dataset.sound ?? "").split(/ +/));
}

// A field, and below it a list of what is meant; who extends it says what the list holds.
class SearchField {
  #list = document.createElement("ul");
  #items = []; // those that are shown
  #here = -1;
  #timer = 0;

  constructor(field, label) {
    this.field = field;
    const [list, box] = [this.#list, document.createElement("span")];
    Object.assign(list, { hidden: true, role: "listbox", ariaLabel: label });
    Object.assign(field, { autocomplete: "off", spellcheck: false, role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" });
    box.className = "choice";
    field.before(box);
    box.append(field, list);
    field.addEventListener("blur", () => this.close());
    field.addEventListener("input", () => this.typed(field.value));
    field.addEventListener("keydown", (event) => this.#pressed(event));
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    list.addEventListener("click", ({ target }) => this.#choose([...list.children].indexOf(target.closest("li"))));
  }

  get isOpen() {
    return !this.#list.hidden;
  }

  // Names the list after the field, once that has its id.
  name(id) {
    this.#list.id = `${id}-list`;
    this.field.setAttribute("aria-controls", this.#list.id);
  }

  close() {
    clearTimeout(this.#timer);
    this.#list.hidden = true;
    this.field.ariaExpanded = "false";
    this.field.removeAttribute("aria-activedescendant");
  }

  // Shows what may be meant: what it is, its text, a note, and whether it is chosen.
  show(items, place) {
    this.#items = items;
    const rows = items.map(({ text, note, isChosen }, number) => {
      const row = document.createElement("li");
      Object.assign(row, { role: "option", id: `${this.#list.id}-${number}`, ariaSelected: String(isChosen), textContent: text });
      if (note) row.append(Object.assign(document.createElement("small"), { textContent: note }));
      return row;
    });
    this.#list.replaceChildren(...rows);
    this.#list.hidden = !rows.length;
    this.field.ariaExpanded = String(rows.length > 0);
    this.#go(place);
  }

  // Has the server asked once nobody types for a moment.
  later(ask) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(ask, PAUSE);
  }

  #go(place) {
    const rows = this.#list.children;
    this.#here = Math.max(-1, Math.min(place, rows.length - 1));
    for (const row of rows) row.toggleAttribute("data-here", row === rows[this.#here]);
    rows[this.#here]?.scrollIntoView({ block: "nearest" });
    if (this.#here < 0) this.field.removeAttribute("aria-activedescendant");
    else this.field.setAttribute("aria-activedescendant", rows[this.#here].id);
  }

  #choose(place) {
    const item = this.#items[place];
    if (!item) return;
    this.choose(item.what);
    this.close();
  }

  #pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !event.altKey) {
      if (this.isOpen) this.#go(Math.max(0, this.#here + step));
      else this.open("");
    } else if (event.key === "Enter" && this.holdsEnter(this.#here)) {
      if (this.isOpen) this.#choose(this.#here);
    } else if (event.key === "Escape" && this.isOpen) {
      this.close();
    } else {
      return;
    }
    event.preventDefault();
  }
}

// A list of the page, of which one is chosen.
class Choice extends SearchField {
  constructor(select) {
    const field = document.createElement("input");
    const labels = [...select.labels];
    Object.assign(field, { id: `${select.id}-search`, required: select.required, className: select.className });
    for (const name of ["aria-invalid", "aria-describedby"]) if (select.hasAttribute(name)) field.setAttribute(name, select.getAttribute(name));
    field.placeholder = [...select.options].find(({ value }) => !value)?.text ?? "";
    select.before(field);
    super(field, labels[0]?.textContent);
    this.select = select;
    this.name(select.id);
    if (select.autofocus) field.focus();
    select.hidden = true;
    select.required = false;
    for (const label of labels) label.htmlFor = field.id;
    field.addEventListener("click", () => this.open(""));
    field.addEventListener("focus", () => field.select());
    field.addEventListener("change", (event) => event.stopPropagation());
    select.addEventListener("change", () => this.say());
    this.say();
  }

  get #chosen() {
    return this.select.value ? this.select.selectedOptions[0].text : "";
  }

  // Says what is chosen.
  say() {
    this.field.value = this.#chosen;
  }

  close() {
    super.close();
    this.say();
  }

  open(typed, found = new Set()) {
    const text = typed.trim().toLowerCase();
    const options = [...this.select.options].filter((option) => (text ? option.value : true) && (fits(option, text) || found.has(option.value))).slice(0, MOST);
    const items = options.map((option) => ({ what: option, text: option.text, isChosen: option.selected }));
    this.show(items, text ? 0 : options.findIndex(({ selected }) => selected));
  }

  typed(value) {
    this.open(value);
    if (this.select.dataset.more && value.trim()) this.later(() => this.#ask(value));
  }

  // Finds what the list does not hold.
  async #ask(typed) {
    const page = await read(`${this.select.dataset.more}?${new URLSearchParams({ q: typed })}`);
    const known = new Set([...this.select.options].map(({ value }) => value));
    const found = new Set();
    for (const link of page.querySelectorAll("#content .chips > li > a")) {
      const id = new URL(link.href).searchParams.get("id");
      found.add(id);
      const [name, account] = ["bdi", "code"].map((part) => link.querySelector(part)?.textContent);
      if (!known.has(id)) this.select.append(new Option(account ? `${name} · ${account}` : name, id));
    }
    if (typed === this.field.value && document.activeElement === this.field) this.open(typed, found);
  }

  choose(option) {
    this.select.value = option.value;
    this.say();
    this.select.dispatchEvent(new Event("change", { bubbles: true }));
  }

  holdsEnter() {
    return this.isOpen || this.field.value !== this.#chosen;
  }
}

// A name, and whom it means: a button of those that the server lists, which are what is sent.
class Meant extends SearchField {
  constructor(field) {
    super(field, document.getElementById(`${field.id}-picks`).ariaLabel);
    this.name(field.id);
    const session = field.form.elements.namedItem("session");
    session?.addEventListener("change", () => field.value && this.#ask(field.value));
  }

  open() {
    const buttons = [...document.querySelectorAll(`#${this.field.id}-picks input`)];
    const items = buttons.map((button) => {
      const [name, note] = ["bdi", "small"].map((part) => button.parentNode.querySelector(part)?.textContent);
      return { what: button, text: name ?? button.parentNode.textContent.trim(), note, isChosen: button.checked };
    });
    this.show(items, -1);
  }

  typed(value) {
    this.later(() => this.#ask(value));
  }

  async #ask(typed) {
    const address = new URL(here().pathname, here());
    address.searchParams.set(this.field.name, typed);
    const session = this.field.form.elements.namedItem("session");
    if (session) address.searchParams.set("session", session.value);
    const page = await read(address);
    if (typed !== this.field.value) return;
    replace(page, [`${this.field.id}-picks`]);
    if (document.activeElement === this.field) this.open();
  }

  choose(button) {
    button.checked = true;
    if (button.value !== "new") this.field.value = button.parentNode.querySelector("bdi").textContent;
  }

  // What is typed may be sent as it is.
  holdsEnter(place) {
    return this.isOpen && place >= 0;
  }
}

const choices = new Map();

// Makes the lists that are long by now searched, and says what is chosen in them.
export function search(selects) {
  for (const select of selects) {
    const isLong = select.options.length > FEW || select.dataset.more;
    if (isLong && !choices.has(select)) choices.set(select, new Choice(select));
    choices.get(select)?.say();
  }
}

search(document.querySelectorAll("select[data-search]"));
for (const field of document.querySelectorAll("input[data-picks]")) new Meant(field);
// A page that is gone back to has what was chosen then.
addEventListener("pageshow", () => search(choices.keys()));
