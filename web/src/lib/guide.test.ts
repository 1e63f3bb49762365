import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { guideOf, guideParts, isPage, slugOf, targetOf } from './guide.ts';

const root = join(import.meta.dirname, '../../..');

it('lists every page of the documentation once', () => {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3));
  expect([...Object.values(guideParts).flat()].sort()).toEqual(['README', 'CHANGELOG', ...pages].sort());
});

it.each([
  ['jobs.md#retention', 'cron', { page: 'jobs', hash: 'retention' }],
  ['#top', 'cron', { page: 'cron', hash: 'top' }],
  ['adr/0002-cron-expressions.md', 'cron', { page: 'adr/0002-cron-expressions', hash: undefined }],
  ['../jobs.md', 'adr/0002-cron-expressions', { page: 'jobs', hash: undefined }],
  ['0003-outbox.md', 'adr/0002-cron-expressions', { page: 'adr/0003-outbox', hash: undefined }],
  ['../README.md#rest-api', 'jobs', { page: 'README', hash: 'rest-api' }],
  ['docs/jobs.md', 'README', { page: 'jobs', hash: undefined }],
  ['https://example.org/a.md', 'jobs', { href: 'https://example.org/a.md' }],
  ['../deploy/etcd-users.sh', 'jobs', undefined],
  ['../CONTRIBUTING.md', 'jobs', undefined],
  ['README.md', 'jobs', undefined],
  ['../../../etc/passwd.md', 'jobs', undefined],
  ['javascript:alert(1)', 'jobs', undefined],
  ['//evil.example/x.md', 'jobs', undefined],
])('%s in %s', (href, page, want) => expect(targetOf(href, page)).toEqual(want));

it('names headings as GitHub does', () => {
  const used = new Map<string, number>();
  expect(['Misfires: startDeadline, and catchUp', 'Misfires: startDeadline, and catchUp', 'A_b – c', '`make run`'].map((text) => slugOf(text, used)))
    .toEqual(['misfires-startdeadline-and-catchup', 'misfires-startdeadline-and-catchup-1', 'a_b--c', 'make-run']);
});

it('leads from each section of the editor to a heading', () => {
  for (const place of Object.values(guideOf)) {
    const [page, hash] = place.split('#');
    const used = new Map<string, number>();
    const headings = [...readFileSync(join(root, `docs/${page}.md`), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text]) => slugOf(text ?? '', used));
    expect(headings, place).toContain(hash);
  }
});

it('knows names of pages', () => {
  expect(['jobs', 'adr/0001-x', '../jobs', 'a/b', ''].map(isPage)).toEqual([true, true, false, false, false]);
});
