// The time slider: what was known and true on a day, without leaving the page.

const form = document.getElementById("eyes");
const slider = document.getElementById("e-slider");
const sides = document.getElementById("sides");
const DAY = 86_400_000;
const SHOWN = 20;
const STANDINGS = ["true", "replaced", "over", "later", "archived"];
const BARRIERS = ["audience", "absent", "persona"];

const number = new Intl.NumberFormat(document.documentElement.lang);
const date = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long" });

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

function figure(section, name) {
  return section.querySelector(`[data-figure="${name}"]`);
}

// How much of everything is seen and true, seen, hidden; as on the server, so in words above.
function balance() {
  const bar = document.querySelector(".balance-bar");
  if (!bar) return;
  const value = (name) => Number(figure(sides, name)?.textContent.replace(/\D/g, "") ?? 0);
  const [seen, current, hidden] = [value("seen"), value("true"), value("hidden")];
  const total = seen + hidden || 1;
  let x = 0;
  bar.replaceChildren(
    ...[["seen", current], ["rest", seen - current], ["hidden", hidden]].map(([name, count]) => {
      const part = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const width = (1000 * count) / total;
      for (const [key, set] of Object.entries({ class: `balance-${name}`, x, width, height: 10 })) {
        part.setAttribute(key, set);
      }
      x += width;
      return part;
    }),
  );
}

class Lists {
  constructor() {
    const { dataset } = document.getElementById("viewas-words");
    this.none = dataset.none;
    for (const key of ["standing", "barrier", "chat"]) this[key] = JSON.parse(dataset[key]);
    this.template = document.getElementById("sighting");
  }

  show(section, page, counts, chip) {
    figure(section, section.id).textContent = number.format(
      Object.values(counts).reduce((sum, count) => sum + count, 0),
    );
    for (const [name, count] of Object.entries(counts)) {
      const found = figure(section, name);
      found.textContent = number.format(count);
      found.closest("li").hidden = count === 0 && !found.closest("[aria-current]");
    }
    section.querySelector(".sightings").replaceChildren(
      ...page.items.slice(0, SHOWN).map((item) => this.#item(item.fact, chip(item), item.foreign ?? false)),
    );
    section.querySelector(".nothing").hidden = page.items.length > 0;
    section.querySelector(".turner")?.remove();
  }

  #item(fact, [name, text], foreign) {
    const item = this.template.content.cloneNode(true).firstElementChild;
    item.dataset.sign = name;
    const link = item.querySelector("a");
    link.href = `/memories/${encodeURIComponent(fact.id)}`;
    link.querySelector("bdi").textContent = fact.statement;
    const chip = item.querySelector(".sign");
    chip.dataset.sign = name;
    chip.textContent = text;
    item.querySelector("[data-part=foreign]").hidden = !foreign;
    const kind = fact.chat.includes(":group:") ? this.chat.group : this.chat.private;
    item.querySelector("[data-part=chat]").textContent =
      `${kind} ${fact.chat_title || fact.chat.split(":").at(-1)}`;
    item.querySelector("[data-part=persona]").textContent =
      !fact.persona || fact.persona === "[%None]" ? this.none : fact.persona;
    const time = item.querySelector("time");
    time.dateTime = fact.said_at;
    time.textContent = date.format(new Date(fact.said_at));
    return item;
  }
}

class Slider {
  constructor() {
    this.lists = new Lists();
    this.day = document.getElementById("e-day");
    this.now = document.getElementById("e-now");
    this.eyes = JSON.parse(sides.dataset.eyes);
    this.asked = 0;
    slider.hidden = false;
    slider.addEventListener("input", (event) => {
      event.stopPropagation();
      this.#name();
      this.#soon();
    });
    // Neither is a filter that the form should be sent for.
    for (const field of [slider, this.day]) {
      field.addEventListener("change", (event) => event.stopPropagation());
    }
    this.day.addEventListener("change", () => {
      const days = Math.round((Date.parse(this.day.value || slider.dataset.last) - this.first) / DAY);
      slider.value = String(days);
      this.#name();
      this.#soon();
    });
    this.now.addEventListener("click", (event) => {
      event.preventDefault();
      slider.value = slider.max;
      this.#name();
      this.#soon();
      slider.focus();
    });
    this.#name();
  }

  get first() {
    return Date.parse(slider.dataset.first);
  }

  #name() {
    const isNow = slider.value === slider.max;
    const day = new Date(this.first + Number(slider.value) * DAY).toISOString().slice(0, 10);
    this.day.value = day;
    this.chosen = isNow ? "" : day;
    if (isNow) this.now.setAttribute("aria-disabled", "true");
    else this.now.removeAttribute("aria-disabled");
    slider.setAttribute("aria-valuetext", isNow ? this.now.textContent : day);
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#ask(), 120);
  }

  async #ask() {
    const turn = ++this.asked;
    const { user, group, persona } = this.eyes;
    const query = new URLSearchParams({ user, group, persona, day: this.chosen, limit: SHOWN });
    sides.setAttribute("aria-busy", "true");
    try {
      const [seen, hidden] = await Promise.all([
        this.#load("facts", query, { standing: document.getElementById("seen").dataset.standing }),
        this.#load("hidden", query, { barrier: document.getElementById("hidden").dataset.barrier }),
      ]);
      if (turn !== this.asked) return;
      this.#show(seen, hidden);
    } catch (error) {
      form.requestSubmit(); // the server can say what is wrong
      throw error;
    } finally {
      if (turn === this.asked) sides.removeAttribute("aria-busy");
    }
  }

  async #load(what, query, more) {
    const all = new URLSearchParams([...query, ...Object.entries(more)].filter(([, value]) => value !== ""));
    const response = await fetch(`/api/v1/viewas/${what}?${all}`);
    if (!response.ok) throw new Error(`the view answered ${response.status}`);
    return response.json();
  }

  #show(seen, hidden) {
    const { standing, barrier } = this.lists;
    this.lists.show(document.getElementById("seen"), seen, seen.standings,
      (item) => [item.standing, standing[item.standing]]);
    this.lists.show(document.getElementById("hidden"), hidden, hidden.barriers,
      (item) => [item.barrier, barrier[item.barrier]]);
    const note = figure(sides, "note");
    note.textContent = fill(note.dataset.words, { current: number.format(seen.standings.true) });
    const unknown = figure(sides, "unknown");
    unknown.hidden = seen.unknown === 0;
    unknown.textContent = fill(unknown.dataset.words, { count: number.format(seen.unknown) });
    balance();
    const address = new URL(location.href);
    for (const key of ["seen", "hidden"]) address.searchParams.delete(key);
    if (this.chosen) address.searchParams.set("day", this.chosen);
    else address.searchParams.delete("day");
    for (const [key, value] of Object.entries(this.eyes)) {
      if (value && key !== "day") address.searchParams.set(key, value);
    }
    history.replaceState(null, "", address);
  }
}

if (slider && sides) {
  balance();
  new Slider();
}
