// Long lists to choose from are searched: by a part of what they say, its pinyin, or an account.
//
// select[data-search] stays what is sent, and what there is without this. data-more="/people"
// is a page that finds what the list does not hold. Lists that are filled later, are searched then.

import { read } from "./fragments.js";

const FEW = 10; // options that are found at a glance
const MOST = 100; // options that are shown at once
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

class Choice {
  #field = document.createElement("input");
  #list = document.createElement("ul");
  #options = []; // those that are shown
  #here = -1;
  #timer = 0;

  constructor(select) {
    this.select = select;
    const [field, list, box] = [this.#field, this.#list, document.createElement("span")];
    const labels = [...select.labels];
    Object.assign(field, { id: `${select.id}-search`, autocomplete: "off", spellcheck: false, required: select.required, className: select.className });
    Object.assign(list, { id: `${select.id}-list`, hidden: true, role: "listbox", ariaLabel: labels[0]?.textContent });
    Object.assign(field, { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" });
    field.setAttribute("aria-controls", list.id);
    field.placeholder = [...select.options].find(({ value }) => !value)?.text ?? "";
    box.className = "choice";
    box.append(field, list);
    select.before(box);
    select.hidden = true;
    select.required = false;
    for (const label of labels) label.htmlFor = field.id;
    field.addEventListener("click", () => this.#open(""));
    field.addEventListener("focus", () => field.select());
    field.addEventListener("blur", () => this.close());
    field.addEventListener("input", () => this.#typed());
    field.addEventListener("keydown", (event) => this.#pressed(event));
    field.addEventListener("change", (event) => event.stopPropagation());
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    list.addEventListener("click", ({ target }) => this.#choose(this.#options[[...list.children].indexOf(target.closest("li"))]));
    select.addEventListener("change", () => this.show());
    this.show();
  }

  // Says what is chosen.
  show() {
    this.#field.value = this.select.value ? this.select.selectedOptions[0].text : "";
  }

  close() {
    clearTimeout(this.#timer);
    this.#list.hidden = true;
    this.#field.ariaExpanded = "false";
    this.#field.removeAttribute("aria-activedescendant");
    this.show();
  }

  #open(typed, found = new Set()) {
    const text = typed.trim().toLowerCase();
    this.#options = [...this.select.options].filter((option) => (text ? option.value : true) && (fits(option, text) || found.has(option.value))).slice(0, MOST);
    const items = this.#options.map((option, number) => {
      const item = document.createElement("li");
      Object.assign(item, { role: "option", id: `${this.#list.id}-${number}`, ariaSelected: String(option.selected), textContent: option.text });
      return item;
    });
    this.#list.replaceChildren(...items);
    this.#list.hidden = !items.length;
    this.#field.ariaExpanded = String(items.length > 0);
    this.#go(text ? 0 : this.#options.findIndex(({ selected }) => selected));
  }

  #typed() {
    const { value } = this.#field;
    this.#open(value);
    clearTimeout(this.#timer);
    if (this.select.dataset.more && value.trim()) this.#timer = setTimeout(() => this.#ask(value), 150);
  }

  // Finds what the list does not hold.
  async #ask(typed) {
    const page = await read(`${this.select.dataset.more}?${new URLSearchParams({ q: typed })}`);
    const known = new Set([...this.select.options].map(({ value }) => value));
    const found = new Set();
    for (const link of page.querySelectorAll("#content .chips > li > a")) {
      const id = new URL(link.href).searchParams.get("id");
      found.add(id);
      if (!known.has(id)) this.select.append(new Option(link.querySelector("bdi").textContent, id));
    }
    if (typed === this.#field.value && document.activeElement === this.#field) this.#open(typed, found);
  }

  #go(place) {
    const items = this.#list.children;
    this.#here = Math.max(-1, Math.min(place, items.length - 1));
    for (const item of items) item.toggleAttribute("data-here", item === items[this.#here]);
    items[this.#here]?.scrollIntoView({ block: "nearest" });
    if (this.#here < 0) this.#field.removeAttribute("aria-activedescendant");
    else this.#field.setAttribute("aria-activedescendant", items[this.#here].id);
  }

  #choose(option) {
    if (!option) return;
    this.select.value = option.value;
    this.close();
    this.select.dispatchEvent(new Event("change", { bubbles: true }));
  }

  #pressed(event) {
    const isOpen = !this.#list.hidden;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && !event.altKey) {
      if (isOpen) this.#go(Math.max(0, this.#here + steps[event.key]));
      else this.#open("");
    } else if (event.key === "Enter" && (isOpen || this.#field.value !== (this.select.selectedOptions[0]?.value ? this.select.selectedOptions[0].text : ""))) {
      if (isOpen) this.#choose(this.#options[this.#here]);
    } else if (event.key === "Escape" && isOpen) {
      this.close();
    } else {
      return;
    }
    event.preventDefault();
  }
}

const choices = new Map();

// Makes the lists that are long by now searched, and says what is chosen in them.
export function search(selects) {
  for (const select of selects) {
    const isLong = select.options.length > FEW || select.dataset.more;
    if (isLong && !choices.has(select)) choices.set(select, new Choice(select));
    choices.get(select)?.show();
  }
}

search(document.querySelectorAll("select[data-search]"));
// A page that is gone back to has what was chosen then.
addEventListener("pageshow", () => search(choices.keys()));
