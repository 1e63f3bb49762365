// Cycles and layers of a directed graph, without recursion: a chain may have 10,000 steps.

interface Edge {
  from: number;
  to: number;
}

/** Returns the edges by one of their ends. */
function by<E extends Edge>(count: number, edges: readonly E[], end: 'from' | 'to'): E[][] {
  const all: E[][] = Array.from({ length: count }, () => []);
  for (const edge of edges) all[edge[end]]?.push(edge);
  return all;
}

/** Numbers the strongly connected components: two nodes have the same number if each is reachable from the other. */
function componentsOf(count: number, out: readonly (readonly Edge[])[]): Int32Array {
  const component = new Int32Array(count).fill(-1);
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const next = new Int32Array(count);
  const open: number[] = [];
  let seen = 0;
  let found = 0;
  for (let root = 0; root < count; root++) {
    if (order[root] !== -1) continue;
    const path = [root];
    order[root] = low[root] = seen++;
    open.push(root);
    while (path.length > 0) {
      const at = path.at(-1) as number;
      const edge = out[at]?.[next[at] as number];
      if (edge) {
        next[at] = (next[at] as number) + 1;
        const to = edge.to;
        if (order[to] === -1) {
          order[to] = low[to] = seen++;
          open.push(to);
          path.push(to);
        } else if (component[to] === -1) low[at] = Math.min(low[at] as number, order[to] as number);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[at] as number);
      if (low[at] !== order[at]) continue;
      for (let member = open.pop(); member !== undefined; member = open.pop()) {
        component[member] = found;
        if (member === at) break;
      }
      found++;
    }
  }
  return component;
}

/** Returns a shortest cycle through a node within its component, as edges; undefined if there is none. */
function cycleThrough<E extends Edge>(node: number, out: readonly (readonly E[])[], component: Int32Array): E[] | undefined {
  const via = new Map<number, E>();
  const queue = [node];
  for (let head = 0; head < queue.length; head++) {
    for (const edge of out[queue[head] as number] ?? []) {
      if (component[edge.to] !== component[node]) continue;
      if (edge.to === node) {
        const path = [edge];
        for (let at = edge.from; at !== node; ) {
          const back = via.get(at) as E;
          path.unshift(back);
          at = back.from;
        }
        return path;
      }
      if (via.has(edge.to)) continue;
      via.set(edge.to, edge);
      queue.push(edge.to);
    }
  }
  return undefined;
}

/** Returns one cycle of each set of nodes that lead back to each other: the nodes in order, and the edges between them. */
export function cyclesOf<E extends Edge>(count: number, edges: readonly E[]): { steps: number[]; edges: E[] }[] {
  const out = by(count, edges, 'from');
  const component = componentsOf(count, out);
  const size = new Map<number, number>();
  for (const c of component) size.set(c, (size.get(c) ?? 0) + 1);
  const done = new Set<number>();
  const cycles: { steps: number[]; edges: E[] }[] = [];
  for (let node = 0; node < count; node++) {
    const c = component[node] as number;
    if (done.has(c) || ((size.get(c) ?? 0) < 2 && !out[node]?.some(({ to }) => to === node))) continue;
    const cycle = cycleThrough(node, out, component);
    if (!cycle) continue;
    done.add(c);
    cycles.push({ steps: cycle.map(({ from }) => from), edges: cycle });
  }
  return cycles;
}

/** Returns for each node the length of the longest path to it. In a cycle the node that comes first in the text is first. */
export function layersOf(count: number, edges: readonly Edge[]): number[] {
  const out = by(count, edges, 'from');
  const open = new Int32Array(count);
  for (const { to } of edges) open[to] = (open[to] as number) + 1;
  const layers = new Array<number>(count).fill(0);
  const done = new Uint8Array(count);
  const queue: number[] = [];
  const add = (node: number) => {
    done[node] = 1;
    queue.push(node);
  };
  for (let node = 0; node < count; node++) if (open[node] === 0) add(node);
  let first = 0;
  for (let head = 0; head < queue.length || first < count; head++) {
    while (head === queue.length && first < count) {
      if (!done[first]) add(first);
      first++;
    }
    const at = queue[head];
    if (at === undefined) break;
    for (const { to } of out[at] ?? []) {
      if (done[to]) continue;
      layers[to] = Math.max(layers[to] ?? 0, (layers[at] ?? 0) + 1);
      if (--(open as Int32Array)[to]! === 0) add(to);
    }
  }
  return layers;
}
