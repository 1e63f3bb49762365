import { createContext, use, useCallback } from 'react';
import type { Me, Role } from '../api/types.ts';
import { reaches } from '../lib/rights.ts';

export const SessionContext = createContext<Me | undefined>(undefined);

/** The signed-in user. Only within the session gate. */
export function useSession(): Me {
  const me = use(SessionContext);
  if (!me) throw new Error('shown outside of a session');
  return me;
}

/**
 * Reports whether the user's roles include the required one, in a group or anywhere. The server enforces it; this only
 * hides actions that it would refuse.
 */
export function useRights(): (role: Role, group?: string) => boolean {
  const me = useSession();
  return useCallback((role: Role, group?: string) => reaches(me, role, group), [me]);
}

/** The same for one action. */
export function useCan(role: Role, group?: string): boolean {
  return reaches(useSession(), role, group);
}
