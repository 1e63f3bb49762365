import { createContext, use } from 'react';
import type { Me, Role } from '../api/types.ts';

export const SessionContext = createContext<Me | undefined>(undefined);

/** Who is signed in. Only for what is shown inside the session gate. */
export function useSession(): Me {
  const me = use(SessionContext);
  if (!me) throw new Error('shown outside of a session');
  return me;
}

const ranks: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 };

/** Whether the session's role reaches the one that an act needs. The server decides; this only leaves out what it would refuse. */
export function useCan(role: Role): boolean {
  return ranks[useSession().role] >= ranks[role];
}
