import { createContext } from 'react';

/** What nodes call. */
export interface GraphActs {
  open: (id: string) => void;
  /** Shows the steps of a group. */
  unfold: (id: string) => void;
  /** Shows or hides the items of a map. */
  toggleItems: (id: string) => void;
}

const none = () => undefined;

export const GraphActsContext = createContext<GraphActs>({ open: none, unfold: none, toggleItems: none });
