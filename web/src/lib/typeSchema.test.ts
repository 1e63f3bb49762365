import { expect, it } from 'vitest';
import { fieldsOf, readJson } from './typeSchema.ts';

it('has a field for each setting, nested ones included', () => {
  const schema = {
    type: 'object',
    required: ['dsn'],
    properties: {
      dsn: { type: 'string', 'x-secret': true, description: 'Address.' },
      body: { type: 'string', 'x-multiline': true },
      limit: { type: 'integer', default: 10 },
      mode: { enum: ['read', 'write'] },
      dry: { type: 'boolean' },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      expect: { type: 'object', properties: { status: { type: 'array', examples: [['2xx', 404]] } } },
    },
  };
  expect(fieldsOf(schema).map(({ path, kind, required, secret, placeholder }) => [path.join('.'), kind, required, secret, placeholder])).toEqual([
    ['dsn', 'text', true, true, undefined], ['body', 'lines', false, false, undefined], ['limit', 'number', false, false, '10'], ['mode', 'choice', false, false, undefined],
    ['dry', 'switch', false, false, undefined], ['headers', 'json', false, false, undefined], ['expect.status', 'json', false, false, '["2xx",404]'],
  ]);
});

it.each([[undefined], [null], [[]], ['x'], [{}], [{ properties: { a: null } }]])('accepts the schema %j', (schema) => expect(fieldsOf(schema).length).toBeLessThan(2));

it.each([['', undefined], ['{"a": 1}', { a: 1 }], ['[1', '[1']])('reads %s', (written, value) => expect(readJson(written)).toEqual(value));
