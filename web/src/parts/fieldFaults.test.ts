import { createInstance } from 'i18next';
import { expect, it } from 'vitest';
import { Problem } from '../api/problem.ts';
import { zhServer } from '../i18n/zh/server.ts';
import { fieldFaults } from './fieldFaults.ts';

const translator = createInstance({ lng: 'zh', initAsync: false, resources: { zh: { translation: {}, server: zhServer } }, interpolation: { escapeValue: false } });
void translator.init();

// As the server answers for a name with a blank, one with a capital letter, and a field of the body.
it.each([['path', 'name'], ['path.name', 'name'], ['body.url', 'url']])('shows a fault at %s at the field %s', (location, field) => {
  const refusal = new Problem(422, { code: 'invalid', errors: [{ location, code: 'name', message: 'names consist of a–z' }] });
  const { at, rest } = fieldFaults(translator.getFixedT('en'), 'en', refusal, ['name', 'url']);
  expect(at(field)).toBe('Names consist of a–z.');
  expect(rest).toEqual([]);
  expect(fieldFaults(translator.getFixedT('zh'), 'zh', refusal, ['name', 'url']).at(field)).toMatch(/^使用 1 至 128 个字符/);
});
