// What an entry of the audit changed: the two values side by side, field by field.

export interface FieldChange {
  /** Where it stands: "retry.max", "labels.team", "args[1]". */
  path: string;
  before: string | undefined;
  after: string | undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function leaves(value: unknown, path: string, into: Map<string, string>): Map<string, string> {
  if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, inner] of Object.entries(value)) leaves(inner, path === '' ? key : `${path}.${key}`, into);
  } else if (Array.isArray(value) && value.length > 0) {
    value.forEach((inner, i) => leaves(inner, `${path}[${i}]`, into));
  } else if (value !== undefined && value !== null) {
    into.set(path, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return into;
}

// Every change sets these; the entry itself says who and when.
const bookkeeping = new Set(['updatedAt', 'updatedBy', 'createdAt', 'createdBy', 'uid', 'version']);

/** Returns the fields that differ, in the order of their names; of what was made or taken away, all that it had. */
export function changesOf(before: unknown, after: unknown): FieldChange[] {
  const old = leaves(before, '', new Map());
  const now = leaves(after, '', new Map());
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => old.get(path) !== now.get(path) && !bookkeeping.has(path))
    .sort((a, b) => (a < b ? -1 : 1))
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }));
}
