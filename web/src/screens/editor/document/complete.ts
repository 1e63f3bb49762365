// Completions at a position of the text: field names, and known values.

import { orderAt, placeOf } from '../../../lib/yamlOrder.ts';
import { definitionSpec, type FieldSpec } from '../fields.gen.ts';
import type { Path } from './paths.ts';

export interface Offer {
  label: string;
  /** The inserted text: a name with its separator. */
  apply: string;
  path: Path;
  spec?: FieldSpec | undefined;
}

export interface Offers {
  from: number;
  offers: Offer[];
}

/** Values that only the server knows: names of channels, workers, zones. */
export type Known = (path: Path) => readonly string[];

function specAt(path: Path): FieldSpec | undefined {
  let spec: FieldSpec | undefined = definitionSpec;
  for (const part of path) {
    // Paths of a list leave the numbers out.
    const within: FieldSpec | undefined = typeof part === 'string' && spec?.type === 'array' ? spec.items : spec;
    spec = typeof part === 'number' ? within?.items : (within?.fields?.[part] ?? within?.values);
  }
  return spec;
}

const keyLine = /^(\s*)("[^"]*"|[^\s#'"[\]{},:-][^#:]*?)\s*:(?=\s|$)(.*)$/;

/** The line of a list as if its item had begun on a line of its own. */
const undashed = (line: string) => line.replace(/^(\s*)-(?=\s)/, '$1 ');

/** Returns the parent keys of a line by indentation. */
function parentsOf(lines: readonly string[], at: number, indent: number): string[] {
  const path: string[] = [];
  let within = indent;
  for (let i = at - 1; i >= 0 && within > 0; i--) {
    const found = keyLine.exec(undashed(lines[i] ?? ''));
    const depth = found?.[1]?.length ?? 0;
    if (found && depth < within) {
      path.unshift((found[2] ?? '').replace(/^"|"$/g, ''));
      within = depth;
    }
  }
  return path;
}

function namesBeside(lines: readonly string[], at: number, indent: number): Set<string> {
  const names = new Set<string>();
  for (const step of [-1, 1]) {
    for (let i = at + step; i >= 0 && i < lines.length; i += step) {
      const line = lines[i] ?? '';
      if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
      const begins = /^\s*-\s/.test(line);
      const inner = undashed(line);
      const depth = inner.length - inner.trimStart().length;
      if (depth < indent || (begins && depth === indent && step > 0)) break;
      const found = keyLine.exec(inner);
      if (found && depth === indent) names.add(found[2] ?? '');
      if (begins && depth === indent) break;
    }
  }
  return names;
}

function applied(name: string, spec: FieldSpec, indent: number): string {
  return spec.type === 'object' ? `${name}:\n${' '.repeat(indent + 2)}` : `${name}: `;
}

/** Returns the completions at a position; none within a block scalar, which is free text. */
export function offersAt(text: string, pos: number, known: Known): Offers | undefined {
  const before = text.slice(0, pos);
  const lines = text.split('\n');
  const at = before.split('\n').length - 1;
  const start = before.lastIndexOf('\n') + 1;
  const line = before.slice(start);
  const indent = line.length - line.trimStart().length;
  const parents = parentsOf(lines, at, Math.max(indent, line.trimStart().startsWith('-') ? 1 : 0));
  const above = parents.length > 0 ? lines.slice(0, at).findLast((l) => keyLine.exec(l)?.[2] === parents.at(-1)) : undefined;
  if (above && /[|>][+-]?\d?\s*$/.test(above)) return undefined;

  const item = /^\s*-\s+(\S*)$/.exec(line);
  const inList = item ?? /^\s*[\w"]+:\s*\[(?:[^\]]*,)?\s*([^\],]*)$/.exec(line);
  const value = item ? undefined : /^\s*([^\s:#]+):\s+([^\s[{#|>].*|)$/.exec(line);
  const typed = inList?.[1] ?? value?.[2];
  if (typed !== undefined) {
    const name = item ? undefined : (/^\s*"?([^\s:"]+)"?:/.exec(line)?.[1] ?? '');
    const path = name === undefined ? parents : [...parents, name];
    const spec = specAt(path);
    const one = inList ? spec?.items : spec;
    if (item && one?.fields && !one.short) return namesOf(one, parents, new Set(), pos - typed.length, indent + 2);
    const values = one?.enum ?? (one?.type === 'boolean' ? ['true', 'false'] : known(path));
    if (values.length === 0) return undefined;
    return { from: pos - typed.length, offers: values.map((label) => ({ label, apply: label, path })) };
  }
  const word = /^\s*(\w*)$/.exec(line);
  if (!word) return undefined;
  const spec = specAt(parents);
  return namesOf(spec?.type === 'array' ? spec.items : spec, parents, namesBeside(lines, at, indent), pos - (word[1] ?? '').length, indent);
}

/** Returns the names of the fields at a path that are not taken. */
function namesOf(spec: FieldSpec | undefined, path: readonly string[], taken: ReadonlySet<string>, from: number, indent: number): Offers | undefined {
  const [head, ...rest] = path;
  const order = orderAt(head === 'steps' ? [head, 0, ...rest] : path);
  const names = Object.entries(spec?.fields ?? {}).filter(([name]) => !taken.has(name)).sort(([a], [b]) => placeOf(a, order) - placeOf(b, order));
  if (names.length === 0) return undefined;
  return { from, offers: names.map(([name, inner]) => ({ label: name, apply: applied(name, inner, indent), path: [...path, name], spec: inner })) };
}
