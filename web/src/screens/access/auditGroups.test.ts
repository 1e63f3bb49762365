import { expect, it } from 'vitest';
import type { AuditEntry } from '../../api/types.ts';
import { distinct, fieldsOf, groupsOf, titleIn } from './auditGroups.ts';

const entry = (name: string, second: number, more: Partial<AuditEntry> = {}): AuditEntry =>
  ({ id: name, at: new Date(Date.UTC(2026, 10, 27, 22, 0, second)).toISOString(), actor: { name: 'adm', note: 'drill' }, verb: 'pause', kind: 'job', name, ...more });

it('makes one group of a bulk request, and none of others', () => {
  const entries = [entry('c', 2), entry('b', 1), entry('a', 1), entry('b', 0, { verb: 'resume' }), entry('x', 0, { verb: 'resume', actor: { name: 'eve' } }), entry('y', -9, { verb: 'resume', actor: { name: 'eve' } })];
  expect(groupsOf(entries).map((group) => group.map(({ name }) => name).join(''))).toEqual(['cba', 'b', 'x', 'y']);
  expect(groupsOf([entry('a', 0), entry('b', 0, { actor: { name: 'adm', note: 'another' } })])).toHaveLength(2);
});

it('makes one group of the entries with the id of a request, whatever is between them and whatever they say', () => {
  const of = (request: string) => ({ actor: { name: 'adm', note: 'drill', request } });
  const entries = [entry('e', 5, of('r1')), entry('x', 5, of('r2')), entry('d', 3, of('r1')), entry('c', 3, { ...of('r1'), verb: 'patch' }), entry('b', 3), entry('a', 3)];
  expect(groupsOf(entries).map((group) => group.map(({ name }) => name).join(''))).toEqual(['edc', 'x', 'ba']);
  expect(distinct(groupsOf(entries)[0] ?? [], ({ verb }) => verb)).toEqual(['pause', 'patch']);
});

it('names the fields of an edit and of a patch alike', () => {
  const before = { command: 'a', env: { A: '1', B: '2' }, updatedAt: 'x', number: 1 };
  const after = { command: 'b', env: { A: '2', B: '3' }, updatedAt: 'y', number: 2 };
  for (const verb of ['replace', 'patch']) expect(fieldsOf(entry('a', 0, { verb, before, after }))).toEqual(['command', 'env']);
  expect(fieldsOf(entry('a', 0, { before, after }))).toEqual([]);
});

it('knows the title of a job from the entry, also of a deleted one', () => {
  expect(titleIn({ kind: 'job', before: { title: 'Old' }, after: { title: 'Pay out sellers' } })).toBe('Pay out sellers');
  expect(titleIn({ kind: 'job', before: { title: 'Old' }, after: {} })).toBeUndefined();
  expect(titleIn({ kind: 'job', before: { title: 'Old' }, after: undefined })).toBe('Old');
  expect(titleIn({ kind: 'user', before: undefined, after: { title: 'Ann' } })).toBeUndefined();
});
