// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { TokenDialog } from './TokenDialog.tsx';

let me: { role: string; user?: string };
vi.mock('../../parts/session.ts', async (original) => ({ ...(await original<object>()), useSession: () => me }));
vi.mock('../../api/users.ts', async (original) => ({ ...(await original<object>()), useUsers: () => ({ data: { items: [{ name: 'alice' }, { name: 'zoe' }] } }) }));
vi.mock('../../api/names.ts', async (original) => ({ ...(await original<object>()), useGroupNames: () => [] }));

let root: Root;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  Object.defineProperty(document, 'fonts', { value: new EventTarget(), configurable: true });
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

// The select is what a reader sees: without an option for its value it would show another user than the one that is sent.
it.each([[undefined, '', 'No user: it acts under its own name'], ['zoe', 'zoe', 'zoe']])('presets the caller, or no user; the caller: %s', async (user, value, shown) => {
  me = { role: 'admin', ...(user && { user }) };
  const translator = await createTranslator();
  await loadRest(translator);
  await act(async () => root.render(
    <I18nextProvider i18n={translator}><MantineProvider env="test"><QueryClientProvider client={new QueryClient()}><TokenDialog user="" choosesUser onClose={() => undefined} /></QueryClientProvider></MantineProvider></I18nextProvider>,
  ));
  const [select] = document.querySelectorAll('select');
  expect(select?.value).toBe(value);
  expect(select?.selectedOptions[0]?.textContent).toBe(shown);
  await act(async () => [...document.querySelectorAll('button')].find((one) => one.textContent === 'New user…')?.click());
  expect([...document.querySelectorAll('[role=dialog]')].some((one) => one.textContent.includes('New user'))).toBe(true);
});
