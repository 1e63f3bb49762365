// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTranslator, loadRest } from '../i18n/index.ts';
import { JobField } from './JobField.tsx';
import { JobsMeant, NoSuchJob } from './NoSuchJob.tsx';

const jobs = [{ name: 'finance.payouts', title: 'Pay out sellers' }, { name: 'finance.payroll' }, { name: 'reports.sellers' }];
const contains = (text: string, q: string) => text.toLowerCase().includes(q);

// As the server answers: a part of the name or title; similar words find payouts only.
vi.mock('../api/client.ts', async (original) => ({
  ...(await original<object>()),
  client: {
    GET: async (_: string, { params: { query: { q = '', similar } } }: { params: { query: { q?: string; similar?: boolean } } }) => ({
      response: new Response(), data: { items: similar ? jobs.slice(0, 1) : jobs.filter(({ name, title = '' }) => contains(name, q.toLowerCase()) || contains(title, q.toLowerCase())) },
    }),
  },
}));

let root: Root;
let applied: string[];

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  Object.defineProperty(document, 'fonts', { value: new EventTarget(), configurable: true });
  Element.prototype.scrollIntoView = () => undefined;
  applied = [];
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

async function show(node: React.ReactNode): Promise<void> {
  const translator = await createTranslator();
  await loadRest(translator);
  await act(async () => root.render(
    <I18nextProvider i18n={translator}><MantineProvider env="test"><QueryClientProvider client={new QueryClient()}>{node}</QueryClientProvider></MantineProvider></I18nextProvider>,
  ));
}

const input = () => document.querySelector('input') as HTMLInputElement;
const options = () => [...document.querySelectorAll('[role=option]')].map((one) => one.textContent);

async function type(text: string): Promise<void> {
  await act(async () => {
    input().focus();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input(), text);
    input().dispatchEvent(new Event('input', { bubbles: true }));
  });
}

const seen = (text: string) => vi.waitFor(async () => {
  await act(async () => undefined);
  expect(options().join('\n')).toContain(text);
});

async function press(key: string): Promise<void> {
  await act(async () => input().dispatchEvent(new KeyboardEvent('keydown', { key, code: key, bubbles: true, cancelable: true })));
}

it.each([['a part of the name', 'payout'], ['a part of the title', 'out sell'], ['a typing error', 'payuots']])('finds a job by %s, and filters by it once it is chosen', async (_, text) => {
  await show(<JobField value="" onChange={(job) => applied.push(job)} />);
  await type(text);
  await seen('Pay out sellersfinance.payouts');
  expect(applied).toEqual([]);
  await press('Enter');
  expect(applied).toEqual(['finance.payouts']);
});

it('says that nothing has the text, and filters by it as a name on request only', async () => {
  await show(<JobField value="" onChange={(job) => applied.push(job)} />);
  await type('zzz');
  await seen('No job has “zzz” in its name or title.');
  await seen('Only the name “zzz”');
  expect(applied).toEqual([]);
});

it('returns to the filter that applies when the field is left, and ends it when it is empty', async () => {
  await show(<JobField value="reports.sellers" onChange={(job) => applied.push(job)} />);
  await type('pay');
  await act(async () => input().blur());
  expect(input().value).toBe('reports.sellers');
  expect(applied).toEqual([]);
  await type('');
  await act(async () => input().blur());
  expect(applied).toEqual(['']);
});

it('explains an empty list: there is no such job, and which may be meant', async () => {
  await show(<NoSuchJob job="payout" onChoose={(job) => applied.push(job)} />);
  await vi.waitFor(async () => {
    await act(async () => undefined);
    expect(document.body.textContent).toContain('There is no job named “payout”. Did you mean:');
  });
  await act(async () => document.querySelector('button')?.click());
  expect(applied).toEqual(['finance.payouts']);
});

it('links the jobs that may be meant by the name of a page', async () => {
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  await show(<RouterContextProvider router={router as never}><JobsMeant job="finance.payout" /></RouterContextProvider>);
  await vi.waitFor(async () => {
    await act(async () => undefined);
    expect([...document.querySelectorAll('[data-meant] a')].map((link) => [link.textContent, link.getAttribute('href')])).toEqual([['Pay out sellers', '/jobs/finance.payouts']]);
  });
});
