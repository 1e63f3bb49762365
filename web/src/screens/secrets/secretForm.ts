// The form of a secret, and the request for it.

import type { Me, Secret, SecretDefinition } from '../../api/types.ts';
import { reaches } from '../../lib/rights.ts';

export interface SecretForm {
  name: string;
  value: string;
  description: string;
  groups: string[];
}

export function secretForm(secret: Secret | undefined): SecretForm {
  return { name: secret?.name ?? '', value: '', description: secret?.description ?? '', groups: [...(secret?.groups ?? [])] };
}

/** Returns the request. Without a value the existing one stays; the final line break of a pasted value is left out, as cronctl does. */
export function definitionOfSecret({ value, description, groups }: SecretForm): SecretDefinition {
  const bare = value.replace(/\r?\n$/, '');
  return { ...(bare !== '' && { value: bare }), ...(description.trim() !== '' && { description: description.trim() }), ...(groups.length > 0 && { groups }) };
}

/** Reports whether a user may change a secret: an admin in each of its groups; a global admin if it has none. */
export function mayKeep(me: Pick<Me, 'role' | 'groups'>, groups: readonly string[]): boolean {
  return groups.length === 0 ? me.role === 'admin' : groups.every((group) => reaches(me, 'admin', group));
}
