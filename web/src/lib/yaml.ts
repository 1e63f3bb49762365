// Definitions as YAML. It contains the yaml package: import it only from code that is loaded on demand.

import { Document, isScalar, visit, type CreateNodeOptions, type DocumentOptions, type ParseOptions, type SchemaOptions, type ToStringOptions } from 'yaml';
import type { Definition } from '../api/types.ts';
import { orderAt, placeOf } from './yamlOrder.ts';

/** Plain YAML 1.2: no merge keys, no yes for true, no duplicate keys. */
export const readOptions: ParseOptions & DocumentOptions & SchemaOptions = { version: '1.2', schema: 'core', strict: true, uniqueKeys: true, merge: false, keepSourceTokens: true, prettyErrors: true };

const createOptions: DocumentOptions & SchemaOptions & CreateNodeOptions = { version: '1.2', schema: 'core', aliasDuplicateObjects: false };

/** Texts that YAML 1.1 parsers read as other types: yes, no, 12:30. They are quoted, except as keys. */
const mistakable = /^(?:y|n|yes|no|on|off|[-+]?[\d_]+(?::[0-5]?\d)+(?:\.[\d_]*)?)$/i;

export const writeOptions: ToStringOptions = { indent: 2, lineWidth: 0, minContentWidth: 0, flowCollectionPadding: false, blockQuote: 'literal' };

/** Returns the value with its keys in order, without unset ones. */
export function inOrder(value: unknown, path: readonly (string | number)[] = []): unknown {
  if (Array.isArray(value)) return value.map((item, i) => inOrder(item, [...path, i]));
  if (typeof value !== 'object' || value === null) return value;
  const order = orderAt(path);
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  if (order) entries.sort(([a], [b]) => placeOf(a, order) - placeOf(b, order));
  return Object.fromEntries(entries.map(([key, part]) => [key, inOrder(part, [...path, key])]));
}

const shortList = 60;

/** Formats any value as YAML, with short lists on one line. The program and its arguments are one per line. */
export function stringify(value: unknown, path: readonly (string | number)[] = []): string {
  const doc = new Document(inOrder(value, path), createOptions);
  visit(doc, {
    Scalar(key, node) {
      if (key !== 'key' && typeof node.value === 'string' && mistakable.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
    Seq(_key, node, ancestors) {
      const owner = ancestors.at(-1) as { key?: { value?: unknown } } | undefined;
      const items = node.items.map((item) => (isScalar(item) ? String(item.value) : '\n'));
      const args = owner?.key?.value === 'args' && ancestors.length === 3 && path.length === 0;
      if (items.length > 0 && !args && items.every((item) => !item.includes('\n')) && items.join(', ').length <= shortList) node.flow = true;
    },
  });
  return doc.toString(writeOptions);
}

/** Formats a definition as YAML: fields in documented order, multi-line commands as blocks. */
export function toYaml(definition: Definition): string {
  return stringify(definition);
}
