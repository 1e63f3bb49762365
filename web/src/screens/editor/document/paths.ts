// Paths of values in a definition, and the server's notation.

export type Path = readonly (string | number)[];

/** Formats a path as the server's location: "args[2]", "params.DAY.pattern". */
export function locationOf(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}

/** Parses a location of this definition, as far as it exists: label names may contain dots. */
export function pathOf(location: string, definition: unknown): Path {
  const path: (string | number)[] = [];
  let rest = location;
  let value = definition;
  while (rest !== '') {
    const index = /^\[(\d+)\]\.?/.exec(rest);
    if (index) {
      path.push(Number(index[1]));
      rest = rest.slice(index[0].length);
    } else {
      const known = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
      const starts = known.filter((key) => rest.startsWith(key) && /^$|^[.[]/.test(rest.slice(key.length))).sort((a, b) => b.length - a.length);
      const key = starts[0] ?? /^[^.[]+/.exec(rest)?.[0] ?? rest;
      path.push(key);
      rest = rest.slice(key.length).replace(/^\./, '');
    }
    value = valueAt(value, path.slice(-1));
  }
  return path;
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string | number, unknown>)[part];
  }
  return at;
}

/** Returns an object's own property, not an inherited one such as constructor. */
export function own<T>(value: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return value && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Reports whether a path is equal to another one or below it. */
export function within(path: Path, outer: Path): boolean {
  return outer.length <= path.length && outer.every((part, i) => part === path[i]);
}
