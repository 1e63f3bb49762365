// Parses the YAML of a job: its definition, the positions of its parts, and faults of the YAML.

import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, visit, type Document, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';
import type { Definition } from '../../../api/types.ts';
import { readOptions } from '../../../lib/yaml.ts';
import { definitionSpec, type FieldSpec } from '../fields.gen.ts';
import { locationOf, own, type Path } from './paths.ts';
import { suggest } from './suggest.ts';

export interface Range {
  from: number;
  to: number;
}

/** Faults found without the server: invalid YAML, unknown names, or values of a wrong type. */
export interface TextFault extends Range {
  kind: 'syntax' | 'several' | 'notMap' | 'unknown' | 'whole' | 'flag' | 'list' | 'names' | 'text' | 'reference';
  location: string;
  line: number;
  /** Kind of a fault of invalid YAML. */
  code?: string;
  suggestion?: string | undefined;
}

export interface Parsed {
  text: string;
  doc: Document.Parsed;
  /** The definition; undefined if the text is not YAML or not a job. */
  definition: Definition | undefined;
  faults: TextFault[];
}

type Add = (kind: TextFault['kind'], path: Path, node: Node | undefined | null, suggestion?: string) => void;

function plain(node: Scalar): boolean {
  return node.type === 'PLAIN' || node.type === undefined;
}

/** The key of a pair as written: 8080 and yes are names too. */
export function keyOf(pair: Pair): string {
  const key = pair.key as Scalar;
  return isScalar(key) ? (typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))) : String(key);
}

/**
 * The value of an unknown field, or one of a wrong type. An alias in it that does not refer to a single value makes it
 * undefined: its target may be missing or recursive.
 */
function asWritten(node: Node, path: Path, doc: Document, add: Add): unknown {
  let endless: Node | undefined;
  visit(node, {
    Alias(_key, alias) {
      if (isScalar(alias.resolve(doc))) return undefined;
      endless = alias;
      return visit.BREAK;
    },
  });
  if (endless) return add('reference', path, endless), undefined;
  return node.toJS(doc, { maxAliasCount: -1 });
}

function read(node: Node | null | undefined, spec: FieldSpec | undefined, path: Path, doc: Document, add: Add): unknown {
  if (isAlias(node)) {
    const target = node.resolve(doc);
    // An anchor that contains its own alias is infinite.
    if (!isScalar(target)) return add('reference', path, node), undefined;
    return read(target, spec, path, doc, add);
  }
  if (!node || (isScalar(node) && node.value === null && plain(node))) return undefined;
  if (!spec) return asWritten(node, path, doc, add);
  if (spec.whole && isScalar(node) && Number.isSafeInteger(node.value)) return node.value;
  if (spec.short && isScalar(node)) return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
  if (spec.type === 'object') return readMap(node, spec, path, doc, add);
  if (spec.type === 'array') {
    if (!isSeq(node)) return add('list', path, node), asWritten(node, path, doc, add);
    return node.items.map((item, i) => read(item as Node, spec.items, [...path, i], doc, add) ?? null);
  }
  if (!isScalar(node)) return add(spec.type === 'integer' ? 'whole' : spec.type === 'boolean' ? 'flag' : 'text', path, node), asWritten(node, path, doc, add);
  const { value } = node;
  // In a text field a number keeps its notation: 90, 1.10 and true are values of variables.
  if (spec.type === 'string') return typeof value === 'string' ? value : (node.source ?? String(value));
  if (spec.type === 'integer' && !(typeof value === 'number' && Number.isSafeInteger(value))) add('whole', path, node);
  if (spec.type === 'boolean' && typeof value !== 'boolean') add('flag', path, node);
  return typeof value === 'bigint' ? String(value) : value;
}

function readMap(node: Node, spec: FieldSpec, path: Path, doc: Document, add: Add): unknown {
  if (!isMap(node)) return add('names', path, node), asWritten(node, path, doc, add);
  if (!spec.fields && !spec.values) return asWritten(node, path, doc, add);
  const known = Object.keys(spec.fields ?? {});
  return Object.fromEntries(
    node.items.flatMap((pair) => {
      const key = keyOf(pair);
      if (isAlias(pair.key)) return add('reference', [...path, key], pair.key), [];
      const inner = spec.fields ? own(spec.fields, key) : spec.values;
      if (!inner && !(path.length === 0 && key === 'meta')) add('unknown', [...path, key], pair.key as Node, suggest(key, known));
      const value = read(pair.value as Node | null, inner, [...path, key], doc, add);
      // A key without a value is not set; a name of a variable or label exists nevertheless.
      if (value === undefined) return spec.values && !spec.fields ? [[key, spec.values.type === 'object' ? {} : '']] : [];
      // A read-only part, which the server ignores.
      return path.length === 0 && key === 'meta' ? [] : [[key, value]];
    }),
  );
}

export function parse(text: string): Parsed {
  try {
    return parsedText(text);
  } catch {
    // YAML nested too deeply for the parser is not a job; the form and the text always agree.
    const fault: TextFault = { kind: 'syntax', location: '', from: 0, to: text.trimEnd().length, line: 1 };
    return { text, doc: nothing(), definition: undefined, faults: [fault] };
  }
}

function nothing(): Document.Parsed {
  const [doc] = parseAllDocuments('{}', readOptions) as Document.Parsed[];
  if (!doc) throw new Error('an empty document can be read');
  return doc;
}

function parsedText(text: string): Parsed {
  const all = parseAllDocuments(text, readOptions);
  const docs = 'empty' in all ? [] : (all as Document.Parsed[]);
  const doc = docs[0] ?? nothing();
  const faults: TextFault[] = [];
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const put = (fault: Omit<TextFault, 'line'>) => faults.push({ ...fault, line: lineAt(fault.from) });
  const syntax = docs.flatMap((d) => d.errors);
  for (const error of syntax) {
    // A missing closing bracket is reported at the end of the text.
    const end = text.trimEnd().length;
    const from = Math.min(error.pos[0], end);
    put({ kind: 'syntax', location: '', from, to: Math.min(Math.max(error.pos[1], from), end), code: error.code });
  }
  if (docs.length > 1) put({ kind: 'several', location: '', from: docs[1]?.range[0] ?? 0, to: docs[1]?.range[1] ?? text.length });
  if (faults.length > 0) return { text, doc, definition: undefined, faults };
  const root = docs[0]?.contents;
  if (root && !isMap(root) && !(isScalar(root) && root.value === null)) {
    put({ kind: 'notMap', location: '', from: root.range[0], to: root.range[1] });
    return { text, doc, definition: undefined, faults };
  }
  const add: Add = (kind, path, node, suggestion) => {
    const [from, to] = node?.range ?? [0, 0];
    put({ kind, location: locationOf(path), from, to, suggestion });
  };
  const definition = (root && isMap(root) ? read(root, definitionSpec, [], doc, add) : {}) as Definition;
  return { text, doc, definition, faults };
}

/** Returns the keys at a path in the order of the text: an object would put numeric ones first. */
export function namesAt(parsed: Parsed, path: Path): string[] {
  const { pair, depth } = pairAt(parsed.doc, path);
  return depth === path.length && isMap(pair?.value) ? pair.value.items.map((item) => keyOf(item as Pair)) : [];
}

/** Reports whether a parsed text has another job's name, or none. */
export function isRenamed(parsed: Parsed, name: string): boolean {
  return parsed.definition !== undefined && parsed.definition.name !== name;
}

/** Returns the pair at a path, or its closest existing parent. */
export function pairAt(doc: Document, path: Path): { pair: Pair | undefined; depth: number } {
  let node: unknown = doc.contents;
  let pair: Pair | undefined;
  for (const [depth, part] of path.entries()) {
    if (isMap(node)) {
      const found: Pair | undefined = (node as YAMLMap).items.find((item) => keyOf(item) === String(part));
      if (!found) return { pair, depth };
      pair = found;
      node = found.value;
    } else if (isSeq(node) && typeof part === 'number' && node.items[part]) node = node.items[part];
    else return { pair, depth };
  }
  return { pair, depth: path.length };
}

/** Returns the range of a path: its value, or its key if it has none; for a missing path its closest parent. */
export function rangeOf(parsed: Parsed, path: Path): Range {
  let node: unknown = parsed.doc.contents;
  let last: Range = { from: 0, to: Math.max(0, parsed.text.indexOf('\n')) };
  for (const part of path) {
    const pair = isMap(node) ? node.items.find((item) => keyOf(item as Pair) === String(part)) : undefined;
    const next: unknown = pair ? pair.value : isSeq(node) && typeof part === 'number' ? node.items[part] : undefined;
    if (!pair && !next) return last;
    const key = (pair?.key as Node | undefined)?.range;
    const value = (next as Node | null | undefined)?.range;
    node = next;
    if (isMap(next) || isSeq(next) ? key : !value || value[0] === value[1]) {
      if (key) last = { from: key[0], to: key[1] };
    } else if (value) last = { from: value[0], to: trimmedEnd(parsed.text, value[0], value[1]) };
  }
  return last;
}

/** Returns the end of a range without trailing white space. */
export function trimmedEnd(text: string, from: number, to: number): number {
  return from + text.slice(from, to).trimEnd().length;
}
