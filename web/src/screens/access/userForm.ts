// The form of a user, and the request for it.

import type { Role, User, UserDefinition, UserPatch } from '../../api/types.ts';

export interface GrantRow {
  group: string;
  role: Role;
}

export interface UserForm {
  name: string;
  title: string;
  role: Role | '';
  groups: GrantRow[];
  password: string;
  takePassword: boolean;
  disabled: boolean;
}

export function userForm(user: User | undefined): UserForm {
  return {
    name: user?.name ?? '',
    title: user?.title ?? '',
    role: user?.role ?? '',
    groups: Object.entries(user?.groups ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)).map(([group, role]) => ({ group, role: role as Role })),
    password: '',
    takePassword: false,
    disabled: user?.disabled ?? false,
  };
}

// A row without a group was added but not used.
function granted(rows: readonly GrantRow[]): Record<string, Role> {
  return Object.fromEntries(rows.map(({ group, role }) => [group.trim(), role] as const).filter(([group]) => group !== ''));
}

export function definitionOfUser(form: UserForm): UserDefinition {
  const groups = granted(form.groups);
  return {
    name: form.name.trim(),
    ...(form.title.trim() !== '' && { title: form.title.trim() }),
    ...(form.role !== '' && { role: form.role }),
    ...(Object.keys(groups).length > 0 && { groups }),
    ...(form.password !== '' && { password: form.password }),
    ...(form.disabled && { disabled: true }),
  };
}

/** Returns the differences; undefined if there are none. */
export function patchOfUser(before: UserForm, form: UserForm): UserPatch {
  const groups = granted(form.groups);
  const changed = JSON.stringify(Object.entries(granted(before.groups)).sort()) !== JSON.stringify(Object.entries(groups).sort());
  return {
    ...(form.title.trim() !== before.title && { title: form.title.trim() || null }),
    ...(form.role !== before.role && { role: form.role || null }),
    ...(changed && { groups: Object.keys(groups).length > 0 ? groups : null }),
    ...(form.takePassword ? { password: null } : form.password !== '' && { password: form.password }),
    ...(form.disabled !== before.disabled && { disabled: form.disabled }),
  };
}
