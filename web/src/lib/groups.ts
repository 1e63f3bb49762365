// Groups, nested by name with "/" as on the server: shop/eu is in shop. See internal/common/group.go.

import { isName } from './names.ts';

/** Stands for the defaults of all jobs. No group can have this name. */
export const allGroups = '*';

/** Reports whether a text is a valid name of a group; the server has the same rule. */
export function isGroup(text: string): boolean {
  return text.length <= 128 && text.split('/').every(isName);
}

/** Returns a group and those that it is nested in, nearest first; none for no group. */
export function groupLine(group: string): string[] {
  const parts = group === '' ? [] : group.split('/');
  return parts.map((_, i) => parts.slice(0, parts.length - i).join('/'));
}

/** Reports whether a group is another one, or is nested in it. */
export function inGroup(group: string, outer: string): boolean {
  return outer !== '' && (group === outer || group.startsWith(`${outer}/`));
}
