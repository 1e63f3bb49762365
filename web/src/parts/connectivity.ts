import { createContext, use, useSyncExternalStore } from 'react';
import { Connectivity } from '../api/connectivity.ts';

export const ConnectivityContext = createContext(new Connectivity());

export function useServerAway(): boolean {
  const connectivity = use(ConnectivityContext);
  return useSyncExternalStore(connectivity.subscribe, connectivity.isAway);
}
