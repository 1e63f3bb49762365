// Writes the editor's metadata of a definition's fields, src/screens/editor/fields.gen.ts, from the API's document.
// With --print it writes to standard output.

import { readFileSync, writeFileSync } from 'node:fs';

const at = (path) => new URL(path, import.meta.url);
const { schemas } = JSON.parse(readFileSync(at('../../api/openapi.json'), 'utf8')).components;

function resolve(schema) {
  const { $ref, ...own } = schema;
  return $ref ? { ...schemas[$ref.split('/').at(-1)], ...own } : own;
}

/** Of a value that is a text or an object, the object; of one that is a text or a number, a text. */
function objectOf(schema) {
  const { oneOf, ...own } = resolve(schema);
  const object = oneOf?.find((one) => resolve(one).type === 'object');
  return oneOf ? { ...(object ? resolve(object) : { type: 'string' }), ...own } : own;
}

function specOf(schema) {
  const s = objectOf(schema);
  const spec = { type: s.type };
  if (resolve(schema).oneOf && s.type === 'object') spec.short = true;
  if (resolve(schema).oneOf?.some((one) => resolve(one).type === 'integer')) spec.whole = true;
  if (s.description) spec.doc = s.description;
  if (s.enum) spec.enum = s.enum;
  if (s.format === 'date-time') spec.format = 'time';
  if (s.examples?.length) spec.example = String(s.examples[0]);
  if (s.type === 'array') spec.items = specOf(s.items);
  if (s.type === 'object' && s.properties) spec.fields = fieldsOf(s);
  else if (s.type === 'object' && Object.keys(s.additionalProperties ?? {}).length > 0) spec.values = specOf(s.additionalProperties);
  return spec;
}

function fieldsOf({ properties }) {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => name !== 'meta').map(([name, schema]) => [name, specOf(schema)]));
}

function typescript(value, indent) {
  if (Array.isArray(value)) return `[${value.map((item) => typescript(item, indent)).join(', ')}]`;
  if (typeof value !== 'object') return typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : String(value);
  const flat = !Object.values(value).some((part) => typeof part === 'object' && !Array.isArray(part));
  const entries = Object.entries(value).map(([key, part]) => `${key}: ${typescript(part, `${indent}  `)}`);
  return flat ? `{ ${entries.join(', ')} }` : `{\n${entries.map((entry) => `${indent}  ${entry},\n`).join('')}${indent}}`;
}

const text = `// Generated from api/openapi.json by scripts/fields.mjs; do not edit.

/** What the API's document says of a field. */
export interface FieldSpec {
  type: 'string' | 'integer' | 'boolean' | 'object' | 'array';
  doc?: string;
  enum?: readonly string[];
  format?: 'time';
  example?: string;
  items?: FieldSpec;
  fields?: Readonly<Record<string, FieldSpec>>;
  /** A text is possible in place of the object. */
  short?: true;
  /** A whole number is possible, too. */
  whole?: true;
  /** Where the names are free, as those of variables are; absent if the values are, too. */
  values?: FieldSpec;
}

export const definitionSpec: FieldSpec = ${typescript({ type: 'object', fields: fieldsOf(schemas.JobInput) }, '')};
`;

if (process.argv.includes('--print')) process.stdout.write(text);
else writeFileSync(at('../src/screens/editor/fields.gen.ts'), text);
