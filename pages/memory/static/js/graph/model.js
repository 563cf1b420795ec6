// What is in the picture: nodes, edges, who brought whom, and how many there are besides.

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const SMALLEST = 5; // radius of what nothing is known of
const LARGEST = 20;
const SCALE = 6; // pixels of one unit of the server's places
const FAN = 34; // pixels between nodes that have no place of their own

export class Model {
  constructor() {
    this.nodes = new Map(); // id -> node with x, y, radius, owners, edges
    this.edges = new Map(); // id -> edge
    this.expanded = new Map(); // id -> how many neighbours there are, in all and by relation
    this.route = new Set(); // ids of edges that are shown whatever the filters say
    this.centre = null; // id; null: everything is shown
    this.total = 0; // nodes of the whole graph
    this.judge = (edge) => edge.state; // how an edge stands; null: it is not shown
    this.hides = false; // whether nodes without any edge that is shown are hidden
    this.atlas = new Map(); // id -> what the map knows of an edge
    this.#changed();
  }

  // Everything there is: nodes with places, edges as rows.
  map(drawn) {
    this.total = drawn.total;
    this.#join(drawn.nodes, null);
    this.know(drawn);
    this.#link([...this.atlas.values()]);
  }

  // Learns from the map where and when was said what is in the picture, and how strong it is.
  know({ nodes, edges, predicates, sessions }) {
    for (const row of edges) {
      const [id, source, target, predicate, importance, times, state, at, until, session, strength] = row;
      this.atlas.set(id, {
        id,
        source: nodes[source].id,
        target: nodes[target].id,
        predicate: predicates[predicate],
        importance,
        times,
        state,
        at,
        until,
        session: sessions[session],
        strength,
      });
    }
    for (const edge of this.edges.values()) Object.assign(edge, this.atlas.get(edge.id));
  }

  // Some nodes and what is between them; the first is the centre.
  begin({ nodes, edges }) {
    this.#join(nodes, nodes[0].id);
    this.#link(edges);
  }

  // Adds a node's neighbourhood around it; returns how many nodes are new.
  add({ centre, nodes, edges, total, relations }) {
    const added = this.#join(nodes, centre.id);
    this.#link(edges);
    this.expanded.set(centre.id, { total, relations });
    return added;
  }

  // Adds a way from one node to another one, which stays.
  lead({ nodes, edges }) {
    this.#join(nodes, this.centre, nodes[0].id);
    this.#link(edges);
  }

  // What is said by edges that are in the picture.
  tell(edges) {
    for (const { id, statement } of edges) {
      const known = this.edges.get(id);
      if (known) known.statement = statement;
    }
  }

  // Each has a place that never changes; what has none stands around who brought it.
  #join(nodes, from, near = from) {
    const whole = from === null;
    let added = 0;
    for (const node of nodes) {
      const known = this.nodes.get(node.id);
      if (known) {
        if (node.id !== from && known.owners.size) known.owners.add(from); // others stay anyway
        continue;
      }
      if (!whole && !this.nodes.size) this.centre = node.id;
      const parent = this.nodes.get(near);
      const far = parent ? FAN * Math.sqrt(2 + added) : 0;
      this.nodes.set(node.id, {
        ...node,
        x: node.x === undefined ? (parent?.x ?? 0) + far * Math.cos(added * GOLDEN) : node.x * SCALE,
        y: node.y === undefined ? (parent?.y ?? 0) + far * Math.sin(added * GOLDEN) : node.y * SCALE,
        radius: Math.min(LARGEST, SMALLEST + 1.8 * Math.log2(1 + node.degree)),
        owners: new Set(whole || node.id === from ? [] : [from]),
        edges: new Set(),
      });
      if (node.id !== from) added += 1;
    }
    this.#changed();
    return added;
  }

  #link(edges) {
    for (const edge of edges) {
      const ends = [this.nodes.get(edge.source), this.nodes.get(edge.target)];
      if (!ends[0] || !ends[1]) continue;
      const known = this.edges.get(edge.id);
      if (known) {
        known.statement = edge.statement ?? known.statement;
        continue;
      }
      const kept = { ...this.atlas.get(edge.id), ...edge };
      kept.seen = this.#judged(kept);
      this.edges.set(edge.id, kept);
      for (const end of ends) end.edges.add(kept);
    }
    this.#changed();
  }

  // Takes away what only this node brought.
  collapse(id) {
    this.expanded.delete(id);
    for (const node of [...this.nodes.values()]) {
      if (!node.owners.delete(id) || node.owners.size > 0 || node.id === this.centre) continue;
      this.nodes.delete(node.id);
      for (const edge of node.edges) {
        this.edges.delete(edge.id);
        for (const end of [edge.source, edge.target]) this.nodes.get(end)?.edges.delete(edge);
      }
      if (this.expanded.has(node.id)) this.collapse(node.id);
    }
    this.#changed();
  }

  // ------------------------------------------------------------------ filters

  #judged(edge) {
    return this.judge(edge) ?? (this.route.has(edge.id) ? edge.state : null);
  }

  // Shows edges as they are judged to stand, and nodes that have one of them.
  filter(judge, hides) {
    this.judge = judge;
    this.hides = hides;
    for (const edge of this.edges.values()) edge.seen = this.#judged(edge);
    this.#changed();
  }

  #changed() {
    this.drawn = null;
    this.joined = null;
  }

  // Nodes in the picture, the best connected first.
  get visible() {
    this.drawn ??= [...this.nodes.values()]
      .filter((node) => !this.hides || node.id === this.centre || this.edgesOf(node.id).length > 0)
      .sort((a, b) => b.degree - a.degree);
    return this.drawn;
  }

  // Lines of the picture: one for all edges between the same two nodes.
  get lines() {
    if (this.joined) return this.joined;
    const found = new Map();
    for (const edge of this.edges.values()) {
      if (edge.source === edge.target || edge.seen === null) continue;
      const [a, b] = [edge.source, edge.target].sort();
      const key = `${a}\n${b}`;
      const line = found.get(key);
      if (line) {
        line.edges.push(edge);
        line.times += edge.times;
        line.current ||= edge.seen === "current";
      } else {
        found.set(key, { a: this.nodes.get(a), b: this.nodes.get(b), edges: [edge], times: edge.times, current: edge.seen === "current" });
      }
    }
    this.joined = [...found.values()];
    return this.joined;
  }

  // ---------------------------------------------------------------- questions

  edgesOf(id) {
    return [...this.nodes.get(id).edges].filter((edge) => edge.seen !== null);
  }

  neighbours(id) {
    const found = new Set(this.edgesOf(id).map((edge) => (edge.source === id ? edge.target : edge.source)));
    found.delete(id);
    return found;
  }

  // Whether expanding it would show something new.
  hasMore(id) {
    const node = this.nodes.get(id);
    return !this.expanded.has(id) && node.degree > node.edges.size;
  }

  // How many neighbours of an expanded node are not in the picture.
  rest(id) {
    if (!this.expanded.has(id)) return 0;
    return Math.max(0, this.expanded.get(id).total - this.#joinedWith(id, null));
  }

  // The same by relation, the most first.
  rests(id) {
    return Object.entries(this.expanded.get(id)?.relations ?? {})
      .map(([relation, total]) => [relation, total - this.#joinedWith(id, relation)])
      .filter(([, left]) => left > 0)
      .sort(([, a], [, b]) => b - a);
  }

  #joinedWith(id, relation) {
    const near = new Set();
    for (const { source, target, predicate } of this.nodes.get(id).edges) {
      if (relation === null || predicate === relation) near.add(source === id ? target : source);
    }
    near.delete(id);
    return near.size;
  }

  // The centre, what it brought, and below each of those what it brought in turn; of the
  // whole map all, the best connected first.
  ordered() {
    if (this.centre === null) return this.visible.map((node) => ({ node, depth: 0 }));
    const shown = new Set(this.visible);
    const seen = new Set();
    const list = [];
    const walk = (node, depth) => {
      if (seen.has(node) || !shown.has(node)) return;
      seen.add(node);
      list.push({ node, depth });
      if (node.id !== this.centre && this.expanded.has(node.id)) children(node.id, depth + 1);
    };
    const children = (id, depth) => {
      for (const node of this.nodes.values()) {
        const [first] = node.owners;
        if (first === id) walk(node, depth);
      }
    };
    walk(this.nodes.get(this.centre), 0);
    children(this.centre, 0);
    for (const node of this.nodes.values()) walk(node, 0);
    return list;
  }
}
