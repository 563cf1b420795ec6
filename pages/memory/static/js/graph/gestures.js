// Gestures on an element, with mouse, finger or pen: press, tap, drag, zoom, hover and leave,
// each told with its place from the element's corner.

const STILL = { touch: 12 }; // pixels that a tap may move: a finger rolls
const STEADY = 4; // with anything else

export class Gestures extends EventTarget {
  #pointers = new Map();
  #moved = false;

  constructor(element) {
    super();
    this.element = element;
    for (const [type, react] of [
      ["wheel", this.#wheel], ["pointerdown", this.#down], ["pointermove", this.#move], ["pointerup", this.#up],
      ["pointercancel", this.#up], ["pointerleave", this.#leave], ["click", this.#click], ["dblclick", this.#nearer],
    ]) element.addEventListener(type, react.bind(this), { passive: false });
  }

  get isPressed() {
    return this.#pointers.size > 0;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #point(event) {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  #wheel(event) {
    event.preventDefault();
    const factor = Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016));
    this.#tell("zoom", { factor, at: this.#point(event) });
  }

  #nearer(event) {
    this.#tell("zoom", { factor: 1.8, at: this.#point(event) });
  }

  #down(event) {
    if (event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, this.#point(event));
    this.#moved = false;
    this.#tell("press", this.#point(event));
  }

  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    const now = this.#point(event);
    if (!before) {
      this.#tell("hover", now);
      return;
    }
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (!this.#moved && Math.hypot(dx, dy) < (STILL[event.pointerType] ?? STEADY)) return;
    this.#moved = true;
    this.#pointers.set(event.pointerId, now);
    this.element.classList.add("dragging");
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) {
      this.#tell("drag", { dx, dy });
      return;
    }
    const factor = Math.hypot(now.x - other.x, now.y - other.y)
      / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    this.#tell("zoom", { factor, at: { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 } });
  }

  #up(event) {
    if (this.#pointers.delete(event.pointerId)) this.element.classList.remove("dragging");
  }

  // Twice is nearer, not there and back.
  #click(event) {
    if (!this.#moved && event.detail < 2) this.#tell("tap", this.#point(event));
  }

  #leave() {
    if (!this.isPressed) this.#tell("leave");
  }
}
