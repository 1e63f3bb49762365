import type { Me, Role } from '../api/types.ts';

const ranks: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 };

function rank(role: string | undefined): number {
  return role !== undefined && Object.hasOwn(ranks, role) ? ranks[role as Role] : -1;
}

/**
 * Reports whether a user's roles include the required one: for jobs of a group ('' means jobs without a group) or, if
 * no group is given, for any jobs.
 */
export function reaches(me: Pick<Me, 'role' | 'groups'>, role: Role, group?: string): boolean {
  const granted = group === undefined ? Object.values(me.groups ?? {}) : Object.hasOwn(me.groups ?? {}, group) ? [me.groups?.[group]] : [];
  return [me.role, ...granted].some((has) => rank(has) >= ranks[role]);
}
