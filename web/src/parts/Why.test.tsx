// @vitest-environment happy-dom
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { expect, it, vi } from 'vitest';
import { createTranslator, loadRest } from '../i18n/index.ts';
import { Why } from './Why.tsx';

it('shows the last line of a failed run as text, except beside its output', async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  const translator = await createTranslator();
  await loadRest(translator);
  const reason = { code: 'exit_code', text: 'exit code 3', data: { exitCode: '3', lastLine: 'ConnectionError: <b>refused</b>' } };
  const shown = async (output: boolean) => {
    const root = createRoot(document.body.appendChild(document.createElement('div')));
    await act(async () => root.render(<I18nextProvider i18n={translator}><Why reason={reason} output={output} /></I18nextProvider>));
    const text = document.body.textContent;
    await act(async () => root.unmount());
    document.body.replaceChildren();
    return text;
  };
  expect(await shown(false)).toBe('Exit code 3Last line: ConnectionError: <b>refused</b>');
  expect(await shown(true)).toBe('Exit code 3');
});
