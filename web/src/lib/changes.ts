// The changes of an audit entry, field by field with both values.

export interface FieldChange {
  /** Path of the field: "retry.max", "labels.team", "args[1]". */
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

// Every change sets these; the entry itself contains user and time.
const bookkeeping = new Set(['updatedAt', 'updatedBy', 'createdAt', 'createdBy', 'uid', 'version']);

/** Returns the fields that differ, by name; for a created or deleted object all of its fields. */
export function changesOf(before: unknown, after: unknown): FieldChange[] {
  const old = leaves(before, '', new Map());
  const now = leaves(after, '', new Map());
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => old.get(path) !== now.get(path) && !bookkeeping.has(path))
    .sort((a, b) => (a < b ? -1 : 1))
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }));
}
