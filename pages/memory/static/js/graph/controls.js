// Filters, colours and lenses of the graph: a form, what its fields mean, and their values as
// they stand in the address.

import { search } from "../choice.js";

const PIGMENTS = ["user", "event", "place", "organization", "thing", "work", "person", "animal", "topic", "session"];
const STRENGTHS = { clear: [0.7, 2], dim: [0.4, 0.7], faint: [0, 0.4] };
const SHADES = { clear: "azurite", dim: "k-thing", faint: "line-2" };
// How a fact stands to somebody (view as), as a state of an edge.
const SIGNS = { true: "current", replaced: "superseded", over: "ended", later: "later", archived: "archived" };
const NONE = "~"; // stands for no persona
const DAY = 86_400;

export const FIELDS = [
  "kind", "relation", "persona", "chat", "strength", "state", "colour", "day", "eyes", "as", "in",
];

function shade(strength) {
  return Object.keys(STRENGTHS).find((name) => strength >= STRENGTHS[name][0]) ?? "faint";
}

export class Controls {
  #seen = null; // how each fact stands to those whose eyes are looked through; null: no lens
  #personas = [];

  constructor(form, model, { words, types, predicates, ahead }, usual) {
    Object.assign(this, { form, model, words, types, predicates, ahead, usual });
    this.slider = form.elements.when;
    this.first = 0; // the slider's first day, counted from 1970
  }

  // ------------------------------------------------------------------- fields

  // Offers what there is in the map.
  fill({ nodes, edges, predicates, sessions, now }) {
    const byName = ([, a], [, b]) => a.localeCompare(b);
    const named = new Map(nodes.map(({ id, name }) => [id, name]));
    const chats = new Map(sessions.map(({ circle, title, group }) => {
      const who = named.get(circle.replace(/:private(@[^:]*)?:/, ":"));
      return [circle, group ? `${this.words.group_chat} ${title}` : `${this.words.private_chat} ${who ?? title}`];
    }));
    this.#personas = [...new Set(sessions.map(({ persona }) => persona))].sort();
    const personas = this.#personas.map((name) => [name || NONE, this.#called(name)]);
    const groups = new Set(sessions.filter(({ group }) => group).map(({ circle }) => circle));
    const people = nodes.filter(({ kind }) => kind === "user").map(({ id, name }) => [id, name]);
    const shapes = [...new Set(nodes.map(({ shape }) => shape))];
    this.#offer("kind", shapes.map((shape) => [shape, this.types[shape] ?? shape]));
    this.#offer("relation", predicates.map((name) => [name, this.predicates[name] ?? name]).sort(byName));
    this.#offer("persona", personas);
    this.#offer("chat", [...chats].sort(byName));
    this.#offer("eyes", people.sort(byName));
    this.#offer("as", personas);
    this.#offer("in", [...chats].filter(([circle]) => groups.has(circle)).sort(byName));
    this.first = this.#number(edges.reduce((least, edge) => Math.min(least, edge[7]), now)) - 1;
    this.slider.max = String(this.#number(now) - this.first);
    Object.assign(this.slider, { value: this.slider.max, disabled: false });
    this.#say();
  }

  #say() {
    search(this.form.querySelectorAll("select[data-later]"));
  }

  #offer(name, options) {
    const select = this.form.elements[name];
    const [any] = select.options;
    const often = new Map();
    for (const [, text] of options) often.set(text, (often.get(text) ?? 0) + 1);
    // Those of one name are told apart by what they are.
    select.replaceChildren(any, ...options.map(([value, text]) => new Option(often.get(text) > 1 ? `${text} · ${value}` : text, value)));
  }

  #called(persona) {
    return !persona || persona === "[%None]" ? this.words.no_persona : persona;
  }

  // What is chosen, without what is usual.
  get values() {
    const found = {};
    for (const name of FIELDS) {
      const value = name === "day" ? this.day : this.form.elements[name].value;
      if (value && value !== (name === "colour" ? this.usual : "")) found[name] = value;
    }
    return found;
  }

  set values(values) {
    for (const name of FIELDS) {
      if (name !== "day") this.form.elements[name].value = values[name] ?? (name === "colour" ? this.usual : "");
      if (this.form.elements[name]?.selectedIndex === -1) this.form.elements[name].selectedIndex = 0;
    }
    const at = Date.parse(values.day) / 1000;
    this.slider.value = Number.isNaN(at) ? this.slider.max : String(at / DAY - this.first);
    this.#say();
  }

  // The day of a moment by AstrBot's clock, counted from 1970.
  #number(at) {
    return Math.floor((at + this.ahead) / DAY);
  }

  get #chosen() {
    return this.first + Number(this.slider.value);
  }

  // The day on the slider as the calendar writes it; empty for today.
  get day() {
    if (this.slider.value === this.slider.max) return "";
    return new Date(this.#chosen * DAY * 1000).toISOString().slice(0, 10);
  }

  // How many fields narrow what is shown.
  get count() {
    return Object.keys(this.values).filter((name) => !["colour", "as", "in"].includes(name)).length;
  }

  // ------------------------------------------------------------------- lenses

  // What to ask the server for; null if nobody's eyes are looked through.
  get asker() {
    const { eyes, as = NONE, in: group = "", day = "" } = this.values;
    return eyes ? { user: eyes, persona: as, group, day } : null;
  }

  // Takes how the facts stand to the asker; null: everything is shown.
  look(seen) {
    this.#seen = seen;
  }

  // How an edge stands, or null if it is not shown: by the fields as they are now.
  judge() {
    const { kind, relation, persona, chat, strength, state } = this.values;
    const at = this.day ? (this.#chosen + 1) * DAY - this.ahead : null;
    const { nodes } = this.model;
    const isOf = (id) => nodes.get(id)?.shape === kind;
    return (edge) => {
      if (kind && !isOf(edge.source) && !isOf(edge.target)) return null;
      if (relation && edge.predicate !== relation) return null;
      if (persona && (edge.session?.persona || NONE) !== persona) return null;
      if (chat && edge.session?.circle !== chat) return null;
      if (strength && shade(edge.strength ?? 1) !== strength) return null;
      const found = this.#state(edge, at);
      return state && found !== state ? null : found;
    };
  }

  #state(edge, at) {
    if (this.#seen) return SIGNS[this.#seen[edge.id]] ?? null;
    if (at === null || !edge.at) return edge.state;
    if (edge.at > at) return null;
    if (edge.until === null || edge.until === undefined) return edge.state;
    if (edge.until > at) return "current";
    return edge.state === "current" ? "ended" : edge.state;
  }

  // ------------------------------------------------------------------ colours

  // What colour a node has by the rule that is chosen, and what the colours mean.
  colours() {
    const rule = this.form.elements.colour.value;
    if (rule === "group") {
      return { rule, of: (node) => `k-${PIGMENTS[(node.group ?? 0) % PIGMENTS.length]}`, legend: [] };
    }
    if (rule === "persona") return this.#byPersona(rule);
    if (rule === "strength") {
      const best = (node) => Math.max(0, ...this.model.edgesOf(node.id).map((edge) => edge.strength ?? 0));
      const legend = Object.keys(SHADES).map((name) => [SHADES[name], this.words[name]]);
      return { rule, of: this.#once((node) => SHADES[shade(best(node))]), legend };
    }
    return { rule: "kind", of: (node) => `k-${node.shape}`, legend: [] };
  }

  #byPersona(rule) {
    const colour = (persona) => {
      const place = this.#personas.indexOf(persona);
      return place < 0 ? "line-2" : `k-${PIGMENTS[place % PIGMENTS.length]}`;
    };
    const most = (node) => {
      const counts = new Map();
      for (const { session } of this.model.edgesOf(node.id)) {
        if (session) counts.set(session.persona, (counts.get(session.persona) ?? 0) + 1);
      }
      return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
    };
    const legend = this.#personas.map((name) => [colour(name), this.#called(name)]);
    return { rule, of: this.#once((node) => colour(most(node))), legend };
  }

  #once(find) {
    const known = new Map();
    return (node) => {
      if (!known.has(node.id)) known.set(node.id, find(node));
      return known.get(node.id);
    };
  }
}
