// Ways between two nodes: where one begins, and the steps of the one that is drawn.

import { shape } from "./list.js";

export class Ways extends EventTarget {
  #paths = [];
  #number = 0;

  constructor(element, model, { outlines, words }) {
    super();
    Object.assign(this, { element, model, outlines, words });
    this.ends = []; // ids of the two nodes; empty if no way is drawn
    this.next = element.querySelector("[data-route=next]");
    this.next.addEventListener("click", () => {
      this.#number = (this.#number + 1) % this.#paths.length;
      this.#draw();
    });
    element.querySelector("[data-route=end]").addEventListener("click", () => {
      this.clear();
      this.dispatchEvent(new Event("end"));
    });
  }

  // Ids of the nodes of the way that is drawn, one after the other.
  get nodes() {
    return this.#paths[this.#number]?.nodes ?? [];
  }

  show(ends, { paths }) {
    Object.assign(this, { ends });
    this.#paths = paths;
    this.#number = 0;
    this.#draw();
  }

  clear() {
    if (this.ends.length) this.show([], { paths: [] });
  }

  #draw() {
    const way = this.#paths[this.#number];
    this.model.route = new Set(way?.facts ?? []);
    this.element.hidden = !way;
    if (way) this.#tell(way);
    this.dispatchEvent(new Event("draw"));
  }

  #tell({ nodes, facts }) {
    const values = { count: facts.length, number: this.#number + 1, total: this.#paths.length };
    const text = this.words.path_count.replace(/\{(\w+)\}/g, (_, key) => String(values[key]));
    this.element.querySelector(".route-count").textContent = text;
    this.next.hidden = this.#paths.length < 2;
    this.element.querySelector(".route-steps").replaceChildren(...nodes.map((id) => this.#step(id)));
  }

  #step(id) {
    const node = this.model.nodes.get(id);
    const button = Object.assign(document.createElement("button"), { type: "button", className: "plain" });
    button.append(shape(node.shape, this.outlines), node.name);
    button.addEventListener("click", () => this.dispatchEvent(new CustomEvent("select", { detail: id })));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }
}
