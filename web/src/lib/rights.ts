import type { Me, Role } from '../api/types.ts';
import { inGroup } from './groups.ts';

const ranks: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 };

function rank(role: string | undefined): number {
  return role !== undefined && Object.hasOwn(ranks, role) ? ranks[role as Role] : -1;
}

/**
 * Reports whether a user's roles include the required one: for jobs of a group ('' means jobs without a group) or, if
 * no group is given, for any jobs. A role in a group holds in those that are nested in it.
 */
export function reaches(me: Pick<Me, 'role' | 'groups'>, role: Role, group?: string): boolean {
  const granted = Object.entries(me.groups ?? {}).filter(([of]) => group === undefined || inGroup(group, of));
  return [me.role, ...granted.map(([, has]) => has)].some((has) => rank(has) >= ranks[role]);
}
