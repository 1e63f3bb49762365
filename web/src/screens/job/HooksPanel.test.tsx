// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Hook, Job } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { definitionOfHook, hookAddress, hookForm } from './hookForm.ts';
import { HooksPanel } from './HooksPanel.tsx';

const job = { name: 'deploy', group: 'web', params: { REF: { pattern: '[a-z]+' }, WHO: {} }, meta: {} } as unknown as Job;
const push: Hook = { name: 'push', job: 'deploy', params: { REF: { path: '$.ref' } }, signature: 'github', header: 'X-Other', rate: 5, version: 7, createdAt: '2026-03-01T15:00:00Z', updatedAt: '2026-03-01T15:00:00Z' };

let listed: Hook[];
let sent: { method: string; path: string; match?: string; body?: unknown }[] = [];

vi.mock('../../api/client.ts', async (original) => {
  const answer = (method: string) => async (path: string, { body, params }: { body?: object; params?: { header?: Record<string, string> } } = {}) => {
    const match = params?.header?.['If-Match'];
    if (method !== 'GET') sent.push({ method, path, ...(match && { match }), ...(body && { body }) });
    const made = { ...push, name: 'form', url: '/api/v1/hooks/crnh_key', secret: 'a-random-secret' };
    return { data: method === 'GET' ? { items: listed } : method === 'POST' ? made : method === 'PUT' ? push : undefined, response: new Response() };
  };
  return { ...(await original<object>()), client: { GET: answer('GET'), POST: answer('POST'), PUT: answer('PUT'), DELETE: answer('DELETE') } };
});

let root: Root;
beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  Object.defineProperty(document, 'fonts', { configurable: true, value: { addEventListener() {}, removeEventListener() {} } });
  sent = [];
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

async function show(hooks: Hook[], mayEdit = true): Promise<void> {
  listed = hooks;
  const translator = await createTranslator();
  await loadRest(translator);
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}><HooksPanel job={job} mayEdit={mayEdit} /></QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
  await vi.waitFor(() => expect(document.querySelector('[data-hooks], p')).not.toBeNull());
}

const text = () => document.body.textContent ?? '';
const button = (name: string) => [...document.querySelectorAll('button, [role=menuitem]')].find((one) => one.textContent === name) as HTMLElement | undefined;
const press = async (name: string) => {
  await vi.waitFor(() => expect(button(name), name).toBeDefined());
  await act(async () => button(name)?.click());
};
const menu = async () => act(async () => (document.querySelector('[aria-label="Actions for web hook push"]') as HTMLElement).click());

it('lists the hooks without their URLs, and offers no change to those who may not edit the job', async () => {
  await show([{ ...push, disabled: true }], false);
  for (const part of ['push', 'Disabled', 'GitHub signature', '5 a minute', 'Sets REF']) expect(text()).toContain(part);
  expect(document.querySelector('button[aria-label^="Actions"]')).toBeNull();
  expect(button('New…')).toBeUndefined();
});

it('creates a hook, and shows its URL and its secret once', async () => {
  await show([]);
  expect(text()).toContain('None: nothing starts the job by a URL.');
  await press('New…');
  await vi.waitFor(() => expect(document.querySelector('form')).not.toBeNull());
  const name = document.querySelector('form input') as HTMLInputElement;
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(name, 'form');
    name.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await press('Create');
  await vi.waitFor(() => expect(document.querySelector('[data-hook-url]')).not.toBeNull());
  expect(sent).toEqual([{ method: 'POST', path: '/api/v1/jobs/{name}/hooks', body: { name: 'form', rate: 30 } }]);
  expect(document.querySelector('[data-hook-url] code')?.textContent).toBe(`${location.origin}/api/v1/hooks/crnh_key`);
  expect(document.querySelector('[data-hook-secret] code')?.textContent).toBe('a-random-secret');
  await press('I have copied it');
  await vi.waitFor(() => expect(text()).not.toContain('crnh_'));
});

it('replaces the URL, disables and deletes', async () => {
  await show([push]);
  await menu();
  await press('New URL…');
  await press('Replace the URL');
  await vi.waitFor(() => expect(document.querySelector('[data-hook-url]')).not.toBeNull());
  await press('I have copied it');
  await menu();
  await press('Disable');
  await menu();
  await press('Delete…');
  await press('Delete the web hook');
  await vi.waitFor(() => expect(sent).toHaveLength(3));
  expect(sent).toEqual([
    { method: 'POST', path: '/api/v1/jobs/{name}/hooks/{hook}/rotate', body: { secret: false } },
    { method: 'PUT', path: '/api/v1/jobs/{name}/hooks/{hook}', match: '"7"', body: { params: { REF: { path: '$.ref' } }, signature: 'github', header: 'X-Other', rate: 5, disabled: true } },
    { method: 'DELETE', path: '/api/v1/jobs/{name}/hooks/{hook}' },
  ]);
});

it('turns a hook into a form and back, with all that the form does not show', () => {
  const form = hookForm({ ...push, params: { REF: { path: '$.ref', optional: true } }, disabled: true }, ['REF', 'WHO']);
  expect(form.sources).toEqual({ REF: { kind: 'path', text: '$.ref', optional: true }, WHO: { kind: 'none', text: '' } });
  const changed = { ...form, sources: { ...form.sources, WHO: { kind: 'value' as const, text: '' } } };
  expect(definitionOfHook(changed, { ...push, disabled: true })).toEqual({ params: { REF: { path: '$.ref', optional: true }, WHO: { value: '' } }, signature: 'github', header: 'X-Other', rate: 5, disabled: true });
  expect(definitionOfHook({ ...form, signature: '', secret: 'x' }, push)).toEqual({ params: { REF: { path: '$.ref', optional: true } }, rate: 5 });
  expect(hookAddress('https://cron.example.com/api/v1/hooks/k', 'http://127.0.0.1')).toBe('https://cron.example.com/api/v1/hooks/k');
});
