// What is in the picture: nodes, edges, and who brought whom.

export const MOST = 240; // nodes in one picture

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const HUB = 8; // edges in view from which a person who chats is faded

export class Model {
  constructor() {
    this.nodes = new Map(); // id -> node with x, y, vx, vy, radius, owners
    this.edges = new Map(); // id -> edge
    this.expanded = new Map(); // id -> how many neighbours there are
    this.centre = null;
  }

  get isFull() {
    return this.nodes.size >= MOST;
  }

  // Adds a node's neighbourhood around it; returns how many nodes are new.
  add(graph) {
    const from = graph.centre.id;
    const parent = this.nodes.get(from);
    let added = 0;
    for (const node of graph.nodes) {
      const known = this.nodes.get(node.id);
      if (known) {
        if (node.id !== from && node.id !== this.centre) known.owners.add(from);
        continue;
      }
      if (this.isFull) continue;
      const angle = added * GOLDEN;
      const far = node.id === from ? 0 : 46 + 13 * Math.sqrt(added);
      this.nodes.set(node.id, {
        ...node,
        x: (parent?.x ?? 0) + far * Math.cos(angle),
        y: (parent?.y ?? 0) + far * Math.sin(angle),
        vx: 0,
        vy: 0,
        radius: 7 + 2.1 * Math.sqrt(Math.min(node.degree, 36)),
        owners: new Set(node.id === from ? [] : [from]),
        pinned: false,
      });
      added += 1;
    }
    this.centre ??= from;
    for (const edge of graph.edges) {
      if (this.nodes.has(edge.source) && this.nodes.has(edge.target)) this.edges.set(edge.id, edge);
    }
    this.expanded.set(from, graph.total);
    return from === this.centre && this.expanded.size === 1 ? added - 1 : added;
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
  }

  edgesOf(id) {
    return [...this.edges.values()].filter((edge) => edge.source === id || edge.target === id);
  }

  neighbours(id) {
    return new Set(this.edgesOf(id).map((edge) => (edge.source === id ? edge.target : edge.source)));
  }

  isHub(id) {
    return this.nodes.get(id).kind === "user" && this.neighbours(id).size > HUB;
  }

  // Whether expanding it would show something new.
  hasMore(id) {
    const node = this.nodes.get(id);
    return !this.expanded.has(id) && node.degree > this.edgesOf(id).length;
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
