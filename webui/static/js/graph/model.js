// What is in the picture: nodes, edges, who brought whom, and how many there are besides.

export const MOST = 300; // nodes in one picture

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const HUB = 8; // edges in view from which a person who chats is faded
const SMALLEST = 6; // radius of what matters least
const LARGEST = 17;

export class Model {
  constructor() {
    this.nodes = new Map(); // id -> node with x, y, vx, vy, radius, owners, held
    this.edges = new Map(); // id -> edge
    this.expanded = new Map(); // id -> how many neighbours there are
    this.ghosts = new Map(); // id -> what stands for its neighbours that are not shown
    this.centre = null;
  }

  // Everything that has a place.
  get bodies() {
    return [...this.nodes.values(), ...this.ghosts.values()];
  }

  get isFull() {
    return this.nodes.size >= MOST;
  }

  // Some nodes and what is between them; the first is the centre.
  begin({ nodes, edges }) {
    this.#join(nodes, edges, nodes[0].id);
    this.#measure();
  }

  // Adds a node's neighbourhood around it; returns how many nodes are new. What was there
  // keeps its place.
  add(graph) {
    const from = graph.centre.id;
    this.hold(true);
    const added = this.#join(graph.nodes, graph.edges, from);
    this.expanded.set(from, graph.total);
    this.#measure();
    return added;
  }

  hold(held) {
    for (const node of this.nodes.values()) node.held = held;
  }

  #join(nodes, edges, from) {
    const parent = this.nodes.get(from);
    const heart = this.nodes.get(this.centre);
    // New nodes open like a fan, away from the centre.
    const away = parent && parent !== heart ? Math.atan2(parent.y - heart.y, parent.x - heart.x) : 0;
    let added = 0;
    for (const node of nodes) {
      const known = this.nodes.get(node.id);
      if (known) {
        if (node.id !== from && node.id !== this.centre) known.owners.add(from);
        continue;
      }
      if (this.isFull) continue;
      const fan = parent && parent !== heart ? away + (((added * GOLDEN) % 2.4) - 1.2) : added * GOLDEN;
      const far = node.id === from ? 0 : 58 + 14 * Math.sqrt(added);
      this.nodes.set(node.id, {
        ...node,
        x: (parent?.x ?? 0) + far * Math.cos(fan),
        y: (parent?.y ?? 0) + far * Math.sin(fan),
        vx: 0,
        vy: 0,
        radius: SMALLEST,
        owners: new Set(node.id === from ? [] : [from]),
        pinned: false,
        held: false,
      });
      this.centre ??= node.id;
      if (node.id !== from) added += 1;
    }
    for (const edge of edges) {
      if (this.nodes.has(edge.source) && this.nodes.has(edge.target)) {
        this.edges.set(edge.id, { ...edge, current: edge.state === "current" });
      }
    }
    return added;
  }

  // As large as the most important thing that is known of it.
  #measure() {
    for (const node of this.nodes.values()) node.radius = SMALLEST;
    for (const edge of this.edges.values()) {
      const radius = SMALLEST + (LARGEST - SMALLEST) * Math.min(1, Math.max(0, edge.importance));
      for (const id of [edge.source, edge.target]) {
        const node = this.nodes.get(id);
        node.radius = Math.max(node.radius, radius);
      }
    }
    const centre = this.nodes.get(this.centre);
    if (centre) centre.radius = Math.max(centre.radius, LARGEST);
    this.#haunt();
  }

  #haunt() {
    for (const id of this.ghosts.keys()) if (!this.expanded.has(id)) this.ghosts.delete(id);
    for (const id of this.expanded.keys()) {
      const count = this.rest(id);
      if (count === 0) {
        this.ghosts.delete(id);
        continue;
      }
      const node = this.nodes.get(id);
      const ghost = this.ghosts.get(id)
        ?? { of: id, x: node.x + 40, y: node.y + 52, vx: 0, vy: 0, radius: 15, degree: 1 };
      this.ghosts.set(id, { ...ghost, count });
    }
  }

  // Takes away what only this node brought.
  collapse(id) {
    this.expanded.delete(id);
    for (const node of [...this.nodes.values()]) {
      node.owners.delete(id);
      if (node.owners.size === 0 && node.id !== this.centre && this.nodes.delete(node.id)) {
        if (this.expanded.has(node.id)) this.collapse(node.id);
      }
    }
    for (const edge of [...this.edges.values()]) {
      if (!this.nodes.has(edge.source) || !this.nodes.has(edge.target)) this.edges.delete(edge.id);
    }
    this.#measure();
  }

  edgesOf(id) {
    return [...this.edges.values()].filter((edge) => edge.source === id || edge.target === id);
  }

  neighbours(id) {
    const found = new Set(this.edgesOf(id).map((edge) => (edge.source === id ? edge.target : edge.source)));
    found.delete(id);
    return found;
  }

  isHub(id) {
    return this.nodes.get(id).kind === "user" && this.neighbours(id).size > HUB;
  }

  // Whether expanding it would show something new.
  hasMore(id) {
    const node = this.nodes.get(id);
    return !this.expanded.has(id) && node.degree > this.edgesOf(id).length;
  }

  // How many neighbours of an expanded node are not in the picture.
  rest(id) {
    return Math.max(0, (this.expanded.get(id) ?? 0) - this.neighbours(id).size);
  }

  // Edges between the same two nodes, so that they can be drawn side by side.
  bundles() {
    const found = new Map();
    for (const edge of this.edges.values()) {
      const key = JSON.stringify([edge.source, edge.target].sort());
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(edge);
    }
    return found.values();
  }

  // The centre, what it brought, and below each of those what it brought in turn.
  ordered() {
    const seen = new Set();
    const list = [];
    const walk = (id, depth) => {
      if (seen.has(id)) return;
      seen.add(id);
      list.push({ node: this.nodes.get(id), depth });
      if (id !== this.centre && this.expanded.has(id)) children(id, depth + 1);
    };
    const children = (id, depth) => {
      for (const node of this.nodes.values()) {
        if (node.owners.has(id) && [...node.owners][0] === id) walk(node.id, depth);
      }
    };
    walk(this.centre, 0);
    children(this.centre, 0);
    for (const id of this.nodes.keys()) walk(id, 0);
    return list;
  }
}
