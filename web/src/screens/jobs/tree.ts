// Groups as a tree, derived from their names: a name that extends another one by a slash, a dot or a dash is below it.

export interface GroupCount {
  /** Empty for the jobs without a group. */
  name: string;
  jobs: number;
  paused: number;
}

export interface GroupNode {
  /** Full name of the group. */
  path: string;
  /** Its part of the name in the tree. */
  label: string;
  /** Including subgroups. */
  jobs: number;
  paused: number;
  children: GroupNode[];
}

/**
 * Every prefix that ends before a slash or a dot is a node, even without jobs of its own. A dash separates only if the
 * prefix is a node anyway: night-shift alone stays one.
 */
function pathsOf(names: readonly string[]): string[] {
  const paths = new Set<string>();
  for (const name of names) for (let end = name.length; end > 0; end = Math.max(name.lastIndexOf('.', end - 1), name.lastIndexOf('/', end - 1))) paths.add(name.slice(0, end));
  return [...paths];
}

const isBetween = (sign: string | undefined) => sign === '/' || sign === '.' || sign === '-';

function parentOf(path: string, nodes: ReadonlyMap<string, GroupNode>): GroupNode | undefined {
  for (let i = path.length - 1; i > 0; i--) {
    const parent = isBetween(path[i]) ? nodes.get(path.slice(0, i)) : undefined;
    if (parent) return parent;
  }
  return undefined;
}

/** Builds the tree; siblings are sorted by name. Jobs without a group are not in it. */
export function groupTree(groups: readonly GroupCount[]): GroupNode[] {
  const named = groups.filter((group) => group.name !== '');
  const nodes = new Map<string, GroupNode>();
  for (const path of pathsOf(named.map((group) => group.name)).sort()) nodes.set(path, { path, label: path, jobs: 0, paused: 0, children: [] });
  const roots: GroupNode[] = [];
  const parents = new Map<GroupNode, GroupNode>();
  for (const node of nodes.values()) {
    const parent = parentOf(node.path, nodes);
    if (!parent) roots.push(node);
    else {
      parents.set(node, parent);
      node.label = node.path.slice(parent.path.length + 1);
      parent.children.push(node);
    }
  }
  for (const { name, jobs, paused } of named) {
    for (let node = nodes.get(name); node; node = parents.get(node)) {
      node.jobs += jobs;
      node.paused += paused;
    }
  }
  return roots;
}

/** Returns the nodes with a text in their name, with their ancestors. */
export function narrowTree(nodes: readonly GroupNode[], text: string): GroupNode[] {
  if (text === '') return [...nodes];
  return nodes.flatMap((node) => {
    if (node.path.includes(text)) return [node];
    const children = narrowTree(node.children, text);
    return children.length > 0 ? [{ ...node, children }] : [];
  });
}

/** Reports whether a group is equal to another one or below it. */
export function isWithin(path: string, of: string): boolean {
  return path === of || (path.startsWith(of) && isBetween(path[of.length]));
}
