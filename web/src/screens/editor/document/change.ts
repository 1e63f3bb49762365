// Text edits for changes of the form: as few characters as possible, so that comments, the order of fields and their
// notation stay.

import { isMap, isScalar, parseDocument, visit, type Document, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';
import { inOrder, readOptions, stringify, writeOptions } from '../../../lib/yaml.ts';
import { orderAt, placeOf } from '../../../lib/yamlOrder.ts';
import { keyOf, parse } from './parse.ts';
import { same } from '../../../lib/same.ts';
import { valueAt, type Path } from './paths.ts';

export interface Change {
  from: number;
  to: number;
  insert: string;
}

type Entry = { path: Path; value: unknown };

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function indented(block: string, by: number): string {
  return block.replace(/^(?=.)/gm, ' '.repeat(by)).replace(/\n+$/, '\n');
}

/** A pair as lines, without the last line break. */
function linesOf(path: Path, value: unknown, indent: number): string {
  const key = String(path.at(-1));
  const text = stringify({ [key]: inOrder(value, path) }, path.slice(0, -1));
  // Trailing line breaks of a block scalar with “keep” belong to its value.
  return indented(text, indent).replace(/\n$/, '');
}

function nested(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
}

/** The end of the last line of a pair. */
function pairEnd(text: string, pair: Pair): number {
  const key = (pair.key as Node).range ?? [0, 0, 0];
  const value = (pair.value as Node | null)?.range;
  const end = Math.max(key[1], value ? value[1] : key[1]);
  // A block's range includes its last line break.
  return lineEnd(text, end > key[1] && text[end - 1] === '\n' ? end - 1 : end);
}

function isBlock(map: YAMLMap): boolean {
  return !map.flow && map.items.every((pair) => isScalar(pair.key) && (pair.key as Scalar).range);
}

/** Position of a new pair: after the last one that precedes it in order, else before the first. */
function insertion(text: string, map: YAMLMap, path: Path, value: unknown): Change {
  const order = orderAt(path.slice(0, -1));
  const place = placeOf(String(path.at(-1)), order);
  const before = map.items.filter((pair) => placeOf(keyOf(pair), order) <= place).at(-1);
  const first = map.items[0];
  const firstAt = ((first?.key as Node).range ?? [0])[0];
  const indent = firstAt - lineStart(text, firstAt);
  const lines = linesOf(path, value, indent);
  if (before) {
    const end = pairEnd(text, before);
    return { from: end, to: end, insert: `\n${lines}` };
  }
  // The first pair may follow a dash or an anchor.
  return { from: firstAt, to: firstAt, insert: `${lines.trimStart()}\n${' '.repeat(indent)}` };
}

function removal(text: string, pair: Pair): Change {
  const from = lineStart(text, ((pair.key as Node).range ?? [0])[0]);
  const end = pairEnd(text, pair);
  return { from, to: Math.min(text.length, end + 1), insert: '' };
}

function replacement(text: string, pair: Pair, path: Path, value: unknown): Change {
  const keyAt = ((pair.key as Node).range ?? [0])[0];
  const indent = keyAt - lineStart(text, keyAt);
  const lines = linesOf(path, value, indent).slice(indent);
  const old = pair.value as Node | null;
  const range = old?.range;
  const end = pairEnd(text, pair);
  const oneLine = range && range[1] > range[0] && !text.slice(keyAt, range[1]).includes('\n');
  const written = /^(?:"[^"]*"|[^\s:"]+): +/.exec(lines);
  // A value on one line keeps its surroundings: the space before it and a comment after it.
  if (oneLine && written && !lines.includes('\n')) return { from: range[0], to: range[1], insert: lines.slice(written[0].length) };
  return { from: keyAt, to: oneLine ? Math.min(end, range[1]) : end, insert: lines };
}

function change(text: string, { path, value }: Entry): Change | undefined {
  const doc = parseDocument(text, readOptions);
  let map: unknown = doc.contents;
  if (!isMap(map) || map.items.length === 0) return undefined;
  let owner: { pair: Pair; depth: number } | undefined;
  for (const [depth, part] of path.entries()) {
    if (!isMap(map) || !isBlock(map as YAMLMap) || map.items.length === 0) return undefined;
    const pair: Pair | undefined = (map as YAMLMap).items.find((item) => keyOf(item) === String(part));
    const last = depth === path.length - 1;
    if (!pair) return value === undefined ? { from: 0, to: 0, insert: '' } : insertion(text, map as YAMLMap, path.slice(0, depth + 1), nested(path.slice(depth + 1), value));
    // Parents that contain only this are removed with it.
    if ((map as YAMLMap).items.length > 1 || !owner) owner = { pair, depth };
    if (last) return value === undefined ? removal(text, owner.pair) : replacement(text, pair, path, value);
    if (pair.value === null || (isScalar(pair.value) && pair.value.value === null)) {
      return value === undefined ? removal(text, owner.pair) : replacement(text, pair, path.slice(0, depth + 1), nested(path.slice(depth + 1), value));
    }
    map = pair.value;
  }
  return undefined;
}

function applied(text: string, { from, to, insert }: Change): string {
  return text.slice(0, from) + insert + text.slice(to);
}

/** Returns the difference of two texts as one edit. */
export function differenceOf(before: string, after: string): Change {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let [from, to] = [before.length, after.length];
  while (from > start && to > start && before[from - 1] === after[to - 1]) [from, to] = [from - 1, to - 1];
  return { from: start, to: from, insert: after.slice(start, to) };
}

function without(definition: unknown, path: Path): unknown {
  const [head, ...rest] = path;
  if (head === undefined || typeof definition !== 'object' || definition === null) return definition;
  const entries = Object.entries(definition).flatMap(([key, part]) => {
    if (key !== String(head)) return [[key, part]];
    if (rest.length === 0) return [];
    const left = without(part, rest);
    return typeof left === 'object' && left !== null && Object.keys(left).length === 0 ? [] : [[key, left]];
  });
  return Object.fromEntries(entries);
}

function withValue(definition: unknown, path: Path, value: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  const before = typeof definition === 'object' && definition !== null ? (definition as Record<string, unknown>) : {};
  return { ...before, [head]: withValue(valueAt(before, [head]), rest, value) };
}

/** Returns the definition with a value set or removed at a path; parents that become empty are removed. */
export function changed(definition: unknown, path: Path, value: unknown): unknown {
  return value === undefined ? without(definition, path) : withValue(definition, path, value);
}

/** Returns the text with a value set at a path, or removed if undefined. The text must be YAML. */
export function setAt(text: string, path: Path, value: unknown): string {
  const parsed = parse(text);
  if (!parsed.definition || same(valueAt(parsed.definition, path), value)) return text;
  if (isObject(value) && isObject(valueAt(parsed.definition, path))) return setEach(text, path, valueAt(parsed.definition, path) as object, value);
  const wanted = changed(parsed.definition, path, value);
  const found = change(text, { path, value });
  const next = found && applied(text, found);
  if (next !== undefined && same(parse(next).definition, wanted)) return next;
  return rewritten(text, path, value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

/** Changes of several names are applied one by one. */
function setEach(text: string, path: Path, before: object, after: object): string {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.reduce((is, name) => setAt(is, [...path, name], valueAt(after, [name])), text);
}

/** Formats the whole text with the parser, which keeps comments: for flow style, such as braces. */
function rewritten(text: string, path: Path, value: unknown): string {
  const doc = parseDocument(text, readOptions);
  if (!isMap(doc.contents) || doc.contents.items.length === 0) return `${text.trimEnd() === '' ? '' : `${text.trimEnd()}\n`}${value === undefined ? '' : stringify(nested(path, value))}`.replace(/^---\n|^\{\}\n/, '');
  freeFrom(doc, doc.getIn(path, true));
  if (value === undefined) {
    doc.deleteIn(path);
    for (let up = path.slice(0, -1); up.length > 0; up = up.slice(0, -1)) {
      const left = doc.getIn(up);
      if (isMap(left) && left.items.length === 0) doc.deleteIn(up);
    }
  } else {
    for (let depth = 1; depth < path.length; depth++) if (!isMap(doc.getIn(path.slice(0, depth)))) doc.setIn(path.slice(0, depth), doc.createNode({}));
    doc.setIn(path, doc.createNode(inOrder(value, path)));
  }
  // An alias without a target stays unchanged: it is reported as a fault, not lost.
  return doc.toString({ ...writeOptions, verifyAliasOrder: false });
}

/** Expands aliases to anchors in a part that is removed. */
function freeFrom(doc: Document, part: unknown): void {
  const going = new Set<unknown>();
  if (part) visit(part as Node, { Node: (_key, node) => void going.add(node) });
  visit(doc, {
    Alias(_key, alias) {
      const target = alias.resolve(doc);
      if (!isScalar(target) || !going.has(target)) return undefined;
      const copy = target.clone() as Scalar;
      copy.anchor = undefined;
      return copy;
    },
  });
}

/** Returns the text with the key at a path renamed in place. */
export function renameAt(text: string, path: Path, name: string): string {
  const parsed = parse(text);
  let node: unknown = parsed.doc.contents;
  for (const part of path.slice(0, -1)) node = isMap(node) ? node.get(part, true) : undefined;
  const pair = isMap(node) ? (node as YAMLMap).items.find((item) => keyOf(item) === path.at(-1)) : undefined;
  const range = (pair?.key as Node | undefined)?.range;
  if (!range) return text;
  const key = /^(.*): /.exec(stringify({ [name]: 1 }).trim())?.[1] ?? JSON.stringify(name);
  return applied(text, { from: range[0], to: range[1], insert: key });
}
