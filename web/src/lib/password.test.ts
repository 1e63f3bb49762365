import { expect, it } from 'vitest';
import { makePassword } from './password.ts';

it('generates different passwords of unambiguous characters', () => {
  const made = new Set(Array.from({ length: 200 }, () => makePassword()));
  expect(made.size).toBe(200);
  for (const password of made) expect(password).toMatch(/^([a-km-zA-HJ-NP-Z2-9]{5}-){3}[a-km-zA-HJ-NP-Z2-9]{5}$/);
  expect([...made].join('')).not.toMatch(/[lIO01o]/);
});

it('rejects bytes that would favour some letters', () => {
  let asked = 0;
  const password = makePassword((bytes) => bytes.fill(asked++ === 0 ? 255 : 0));
  expect(password).toBe('aaaaa-aaaaa-aaaaa-aaaaa');
  expect(asked).toBe(2);
});
