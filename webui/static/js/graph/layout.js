// A force layout: everything repels, facts attract, nothing overlaps.
// At a few hundred nodes comparing all pairs is faster than being clever.

const REPULSION = 1900;
const SPRING = 0.06;
const GRAVITY = 0.012;
const DAMPING = 0.62;
const COOLING = 0.982;
const REST = 0.02;

export class Layout {
  constructor(model) {
    this.model = model;
    this.heat = 1;
  }

  get isResting() {
    return this.heat < REST;
  }

  warm(heat = 0.7) {
    this.heat = Math.max(this.heat, heat);
  }

  step() {
    const nodes = this.model.bodies;
    this.#repel(nodes);
    for (const edges of this.model.bundles()) {
      const [{ source, target }] = edges;
      this.#attract(this.model.nodes.get(source), this.model.nodes.get(target));
    }
    for (const ghost of this.model.ghosts.values()) {
      this.#attract(this.model.nodes.get(ghost.of), ghost, 0);
    }
    for (const node of nodes) {
      node.vx -= node.x * GRAVITY * this.heat;
      node.vy -= node.y * GRAVITY * 1.35 * this.heat; // pictures are wider than tall
      if (!node.pinned && !node.held) {
        node.x += node.vx;
        node.y += node.vy;
      }
      node.vx *= DAMPING;
      node.vy *= DAMPING;
    }
    this.heat *= COOLING;
  }

  #repel(nodes) {
    for (let i = 0; i < nodes.length; i++) {
      const a = nodes[i];
      for (let j = i + 1; j < nodes.length; j++) {
        const b = nodes[j];
        // Labels are wide: what stands side by side needs more room.
        let dx = (b.x - a.x) * 0.8 || (i - j) * 0.01;
        const dy = b.y - a.y || 0.01;
        const square = Math.max(60, dx * dx + dy * dy);
        const distance = Math.sqrt(square);
        let force = (REPULSION * this.heat) / square;
        const overlap = a.radius + b.radius + 14 - distance;
        if (overlap > 0) force += overlap * 0.28;
        dx = (dx / distance) * force;
        const up = (dy / distance) * force;
        a.vx -= dx;
        a.vy -= up;
        b.vx += dx;
        b.vy += up;
      }
    }
  }

  // Pulls two together; `share` is how much of it the first one feels.
  #attract(a, b, share = b.degree / (a.degree + b.degree || 1)) {
    if (a === b) return;
    const dx = b.x - a.x;
    const dy = b.y - a.y;
    const distance = Math.hypot(dx, dy) || 1;
    const busy = Math.max(a.degree, b.degree);
    const length = 64 + a.radius + b.radius + 3.2 * Math.min(busy, 40);
    const force = ((distance - length) / distance) * SPRING * this.heat * 2;
    // Who has many links stands still.
    a.vx += dx * force * share;
    a.vy += dy * force * share;
    b.vx -= dx * force * (1 - share);
    b.vy -= dy * force * (1 - share);
  }
}
