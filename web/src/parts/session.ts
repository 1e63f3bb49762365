import { createContext, use, useCallback } from 'react';
import type { Me, Role } from '../api/types.ts';
import { reaches } from '../lib/rights.ts';

export const SessionContext = createContext<Me | undefined>(undefined);

/** Who is signed in. Only for what is shown inside the session gate. */
export function useSession(): Me {
  const me = use(SessionContext);
  if (!me) throw new Error('shown outside of a session');
  return me;
}

/** Reports whether the session's roles include the one that an action needs, in a group or anywhere. The server decides; this only leaves out what it would refuse. */
export function useRights(): (role: Role, group?: string) => boolean {
  const me = useSession();
  return useCallback((role: Role, group?: string) => reaches(me, role, group), [me]);
}

/** The same for one act. */
export function useCan(role: Role, group?: string): boolean {
  return reaches(useSession(), role, group);
}
