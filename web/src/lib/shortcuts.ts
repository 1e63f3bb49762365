// Single keys and sequences of two. Decides only; the shell acts.

export type Action = 'search' | 'help' | 'jobs' | 'runs' | 'ledger' | 'workers';

const targets: Record<string, Action> = { j: 'jobs', r: 'runs', l: 'ledger', w: 'workers' };

/** How long the second key of a sequence may take, in milliseconds. */
export const patience = 1200;

export interface Pending {
  at: number;
}

/** Returns what a key press asks for, and the sequence that it leaves open. */
export function press(key: string, now: number, pending: Pending | undefined): { action?: Action; pending?: Pending } {
  if (pending && now - pending.at <= patience) {
    const action = targets[key];
    if (action) return { action };
  }
  if (key === 'g') return { pending: { at: now } };
  if (key === '/') return { action: 'search' };
  if (key === '?') return { action: 'help' };
  return {};
}

/** Keys typed into a field belong to the field, and those with a modifier to the browser. */
export function isTyping(event: Pick<KeyboardEvent, 'target' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing'>): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  const target = event.target;
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}
