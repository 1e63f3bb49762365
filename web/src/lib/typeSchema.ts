// The fields of a form for the settings of a type, from its JSON schema.

/** What the form uses of a schema. */
interface Schema {
  type?: unknown;
  properties?: Record<string, Schema>;
  required?: unknown;
  additionalProperties?: unknown;
  description?: unknown;
  default?: unknown;
  examples?: unknown;
  enum?: unknown;
  'x-secret'?: unknown;
  'x-multiline'?: unknown;
}

export interface SettingField {
  path: readonly string[];
  kind: 'text' | 'lines' | 'number' | 'switch' | 'choice' | 'json';
  required: boolean;
  secret: boolean;
  help: string | undefined;
  placeholder: string | undefined;
  choices: readonly string[];
}

function object(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : value === undefined || value === null ? undefined : JSON.stringify(value);
}

/** Returns the fields of a schema: those of nested objects one by one, and all that has no input of its own as JSON. */
export function fieldsOf(schema: unknown, path: readonly string[] = []): SettingField[] {
  const whole = object(schema);
  const required = Array.isArray(whole?.required) ? whole.required : [];
  return Object.entries(whole?.properties ?? {}).flatMap(([name, value]): SettingField[] => {
    const of = object(value) ?? {};
    const at = [...path, name];
    if (of.type === 'object' && of.properties && at.length < 3) return fieldsOf(of, at);
    const choices = Array.isArray(of.enum) && of.enum.every((one) => typeof one === 'string') ? (of.enum as string[]) : [];
    const kind = choices.length > 0 ? 'choice' : of.type === 'string' ? (of['x-multiline'] === true ? 'lines' : 'text') : of.type === 'integer' || of.type === 'number' ? 'number' : of.type === 'boolean' ? 'switch' : 'json';
    const example = Array.isArray(of.examples) ? of.examples[0] : undefined;
    return [{ path: at, kind, required: required.includes(name), secret: of['x-secret'] === true, help: text(of.description), placeholder: text(of.default) ?? text(example), choices }];
  });
}

/** Returns the value of a written JSON text; undefined for an empty one, the text itself while it is not JSON. */
export function readJson(written: string): unknown {
  if (written.trim() === '') return undefined;
  try {
    return JSON.parse(written) as unknown;
  } catch {
    return written;
  }
}
