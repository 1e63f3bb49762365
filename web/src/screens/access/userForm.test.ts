import { expect, it } from 'vitest';
import type { User } from '../../api/types.ts';
import { definitionOfUser, patchOfUser, userForm } from './userForm.ts';

const ann: User = { name: 'ann', title: 'Ann Lee', role: 'viewer', groups: { shop: 'editor' }, hasPassword: true, version: 7, createdAt: '', createdBy: '', updatedAt: '', updatedBy: '' };

it('sends the filled-in fields of a new user', () => {
  const form = { ...userForm(undefined), name: ' bob ', groups: [{ group: 'shop', role: 'editor' as const }, { group: ' ', role: 'viewer' as const }], password: ' spaces count ' };
  expect(definitionOfUser(form)).toEqual({ name: 'bob', groups: { shop: 'editor' }, password: ' spaces count ' });
});

it.each([
  ['nothing', {}, {}],
  ['a role that is taken away', { role: '' as const }, { role: null }],
  ['groups that are taken away', { groups: [] }, { groups: null }],
  ['another role in the group', { groups: [{ group: 'shop', role: 'viewer' as const }] }, { groups: { shop: 'viewer' } }],
  ['the same groups in another order', { groups: [{ group: '', role: 'viewer' as const }, { group: 'shop', role: 'editor' as const }] }, {}],
  ['a name for people that is emptied', { title: ' ' }, { title: null }],
  ['a password', { password: 'a very long password' }, { password: 'a very long password' }],
  ['the password that is taken away', { takePassword: true, password: 'typed before' }, { password: null }],
  ['that they are locked out', { disabled: true }, { disabled: true }],
])('patches %s', (_what, part, want) => expect(patchOfUser(userForm(ann), { ...userForm(ann), ...part })).toEqual(want));
