import { expect, it } from 'vitest';
import type { Me, Role } from '../api/types.ts';
import { reaches } from './rights.ts';

const everywhere: Pick<Me, 'role' | 'groups'> = { role: 'operator', groups: { reports: 'editor', billing: 'viewer' } };
const inOneGroup: Pick<Me, 'role' | 'groups'> = { groups: { reports: 'operator', other: 'owner' as Role } };

it.each<[Pick<Me, 'role' | 'groups'>, Role, string | undefined, boolean]>([
  [everywhere, 'operator', '', true],
  [everywhere, 'editor', '', false],
  [everywhere, 'editor', 'reports', true],
  [everywhere, 'admin', 'reports', false],
  [everywhere, 'operator', 'billing', true],
  [everywhere, 'editor', undefined, true],
  [everywhere, 'admin', undefined, false],
  [inOneGroup, 'viewer', '', false],
  [inOneGroup, 'operator', 'reports', true],
  [inOneGroup, 'viewer', 'other', false],
  [inOneGroup, 'viewer', 'constructor', false],
  [inOneGroup, 'operator', undefined, true],
  [inOneGroup, 'operator', 'reports/eu', true],
  [inOneGroup, 'editor', 'reports/eu', false],
  [inOneGroup, 'operator', 'reports.eu', false],
  [{ groups: { 'reports/eu': 'editor' } }, 'viewer', 'reports', false],
  [{}, 'viewer', undefined, false],
  [{ role: 'admin' }, 'admin', 'anything', true],
])('%j as %s in %j: %s', (me, role, group, want) => expect(reaches(me, role, group)).toBe(want));
