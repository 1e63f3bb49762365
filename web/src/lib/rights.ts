import type { Me, Role } from '../api/types.ts';

const ranks: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 };

function rank(role: string | undefined): number {
  return role !== undefined && Object.hasOwn(ranks, role) ? ranks[role as Role] : -1;
}

/**
 * Reports whether a user's roles include the one that an action needs: for the jobs of a group, '' being those that are in none, or, where
 * no group is named, for any jobs at all.
 */
export function reaches(me: Pick<Me, 'role' | 'groups'>, role: Role, group?: string): boolean {
  const granted = group === undefined ? Object.values(me.groups ?? {}) : Object.hasOwn(me.groups ?? {}, group) ? [me.groups?.[group]] : [];
  return [me.role, ...granted].some((has) => rank(has) >= ranks[role]);
}
