// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it } from 'vitest';
import { client } from '../../api/client.ts';
import { exportJobs } from './exportJobs.ts';

const server = {
  onRequest({ request }: { request: Request }) {
    const name = new URL(request.url).pathname.split('/').at(-1);
    if (name === 'gone') return new Response('{"code":"not_found","detail":"there is no such job"}', { status: 404, headers: { 'Content-Type': 'application/problem+json' } });
    return new Response(JSON.stringify({ name, command: 'true', meta: { uid: name, version: 1 } }), { headers: { 'Content-Type': 'application/json' } });
  },
};

beforeEach(() => client.use(server));
afterEach(() => client.eject(server));

it('a job that was deleted meanwhile is counted, and does not stop the export', async () => {
  const { text, ...counts } = await exportJobs({ filter: {}, only: new Set(['a', 'gone', 'z']), signal: new AbortController().signal, onProgress: () => undefined });
  expect(counts).toEqual({ jobs: 2, hidden: 0, gone: 1 });
  expect(text).toMatch(/name: a[^]*---[^]*name: z/);
});
