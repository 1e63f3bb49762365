// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { useTestChannel } from '../api/channels.ts';
import type { Channel } from '../api/types.ts';
import { createTranslator, loadRest } from '../i18n/index.ts';
import { channelColumns } from '../screens/notifications/channelColumns.tsx';
import { ChannelDialog } from './ChannelDialog.tsx';

let mail: boolean;
vi.mock('../api/version.ts', async (original) => ({ ...(await original<object>()), useVersion: () => ({ data: { mail } }) }));

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

async function show(make: (t: Awaited<ReturnType<typeof createTranslator>>['t']) => React.ReactNode): Promise<void> {
  const translator = await createTranslator();
  await loadRest(translator);
  await act(async () => root.render(
    <I18nextProvider i18n={translator}><MantineProvider env="test"><QueryClientProvider client={new QueryClient()}>{make(translator.t)}</QueryClientProvider></MantineProvider></I18nextProvider>,
  ));
}

async function choose(kind: string): Promise<void> {
  const select = document.querySelector('select') as HTMLSelectElement;
  await act(async () => {
    select.value = kind;
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

it.each([[false, true], [true, false]])('says before a mail channel is created that a server does not send mail; sends: %s', async (sends, warned) => {
  mail = sends;
  await show(() => <ChannelDialog onClose={() => undefined} />);
  expect(document.querySelector('[data-no-mail]'), 'of a webhook').toBeNull();
  await choose('mail');
  expect(document.querySelector('[data-no-mail]')?.textContent.includes('smtpHost') ?? false).toBe(warned);
});

it.each([['mail', false, true], ['mail', true, false], ['mail', undefined, false], ['webhook', false, false]] as const)('marks in the list a channel that cannot send: %s, the server sends mail: %s', async (kind, sends, marked) => {
  const channel = { name: 'ops', kind } as Channel;
  await show((t) => {
    const [name] = channelColumns(t, { admin: false, mail: sends, test: {} as ReturnType<typeof useTestChannel>, open: undefined, onToggle: () => undefined, onEdit: () => undefined, onDelete: () => undefined });
    const cell = name?.cell as ((at: { row: { original: Channel } }) => React.ReactNode) | undefined;
    return cell?.({ row: { original: channel } });
  });
  expect(document.body.textContent.includes('Cannot send')).toBe(marked);
});
