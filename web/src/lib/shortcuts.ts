// Single keys and sequences of two: one list for handling and for the help. Decides only; the shell acts.

export type Action = 'palette' | 'search' | 'new' | 'help' | 'next' | 'previous' | 'submit' | 'overview' | 'jobs' | 'timeline' | 'runs' | 'ledger' | 'workers' | 'health' | 'notifications' | 'maintenance' | 'locks' | 'pools' | 'defaults' | 'secrets' | 'access';

export interface Shortcut {
  action: Action;
  /** Pressed one after the other. */
  keys: readonly [string] | readonly [string, string];
  /** Pressed with Ctrl, or with Cmd on a Mac; takes precedence over a field's own handling. */
  mod?: true;
}

export const shortcuts: readonly Shortcut[] = [
  { action: 'palette', keys: ['k'], mod: true },
  { action: 'search', keys: ['/'] },
  { action: 'new', keys: ['n'] },
  { action: 'next', keys: ['j'] },
  { action: 'previous', keys: ['k'] },
  { action: 'submit', keys: ['Enter'], mod: true },
  { action: 'help', keys: ['?'] },
  { action: 'overview', keys: ['g', 'o'] },
  { action: 'jobs', keys: ['g', 'j'] },
  { action: 'timeline', keys: ['g', 't'] },
  { action: 'runs', keys: ['g', 'r'] },
  { action: 'ledger', keys: ['g', 'l'] },
  { action: 'workers', keys: ['g', 'w'] },
  { action: 'health', keys: ['g', 'h'] },
  { action: 'notifications', keys: ['g', 'n'] },
  { action: 'maintenance', keys: ['g', 'm'] },
  { action: 'pools', keys: ['g', 'p'] },
  { action: 'defaults', keys: ['g', 'd'] },
  { action: 'locks', keys: ['g', 'k'] },
  { action: 'secrets', keys: ['g', 's'] },
  { action: 'access', keys: ['g', 'a'] },
];

/** Maximum time between the keys of a sequence, in milliseconds. */
export const patience = 1200;

export interface Pending {
  key: string;
  at: number;
}

/** Returns the action of a key press, and the sequence that it starts. */
export function press(key: string, now: number, pending: Pending | undefined): { action?: Action; pending?: Pending } {
  const plain = shortcuts.filter(({ mod }) => !mod);
  const second = pending && now - pending.at <= patience && plain.find(({ keys }) => keys[0] === pending.key && keys[1] === key);
  if (second) return { action: second.action };
  if (plain.some(({ keys }) => keys.length === 2 && keys[0] === key)) return { pending: { key, at: now } };
  const single = plain.find(({ keys }) => keys.length === 1 && keys[0] === key);
  return single ? { action: single.action } : {};
}

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'isComposing'>;

/** Returns the action of a key pressed with Ctrl or Cmd. */
export function pressWithMod({ key, ctrlKey, metaKey, altKey, shiftKey, isComposing }: Press): Action | undefined {
  if (ctrlKey === metaKey || altKey || shiftKey || isComposing) return undefined;
  return shortcuts.find(({ mod, keys }) => mod && keys[0].toLowerCase() === key.toLowerCase())?.action;
}

/** Keys typed into a field belong to the field, and those with a modifier to the browser. */
export function isTyping(event: Pick<KeyboardEvent, 'target' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing'>): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  // For events within a shadow root, the window sees only its host.
  const host = event.target instanceof HTMLElement ? event.target : undefined;
  const target = host?.shadowRoot?.activeElement ?? host;
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}
