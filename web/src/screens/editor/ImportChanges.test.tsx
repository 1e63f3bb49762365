// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { useDryRun } from '../../api/apply.ts';
import type { CrontabLine } from '../../api/crontab.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { ImportChanges } from './ImportChanges.tsx';
import { rowsOf } from './importPlan.ts';
import { keysOf } from './lineKeys.ts';

let root: Root;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

it('tells jobs of the same program apart, with what becomes standard input and the first fire', async () => {
  const line = (n: number, cronExpr: string, command: string, rest: object = {}) =>
    ({ line: n, text: '', nextFire: '2030-01-01T00:17:00Z', job: { name: n === 1 ? 'echo' : `echo-${n}`, cronExpr, command, ...rest } }) as CrontabLine;
  const lines = [line(1, '17 * * * *', 'echo "hello', { stdin: 'world" \n line two\n' }), line(2, '*/5 * * * *', 'echo b')];
  const rows = rowsOf(lines, keysOf(lines), new Map(), '');
  const dry = { data: { items: rows.map(({ job }) => ({ name: job?.name, result: 'created' })) }, isSuccess: true } as unknown as ReturnType<typeof useDryRun>;
  const translator = await createTranslator();
  await loadRest(translator);
  await act(async () => root.render(<I18nextProvider i18n={translator}><MantineProvider env="test"><ImportChanges dry={dry} rows={rows} clashes={new Set()} /></MantineProvider></I18nextProvider>));
  // All of it is in the summaries, which are shown while the details are closed.
  const shown = [...document.querySelectorAll('summary')].map((summary) => summary.textContent ?? '');
  expect(shown).toHaveLength(2);
  expect(shown[0]).toMatch(/^echo would be created.*Line 1 17 \* \* \* \* echo "helloStandard input: world"[\s\S]*line twoFirst fire: .*2030/);
  expect(shown[1]).toMatch(/^echo-2 would be created.*Line 2 \*\/5 \* \* \* \* echo bFirst fire: /);
});
