import type { Param } from '../api/types.ts';

/** Returns given parameters in the order in which their job declares them, then those that it does not declare. */
export function inDeclaredOrder(given: Record<string, string>, declared: Record<string, Param> | undefined): [name: string, value: string][] {
  const order = Object.keys(declared ?? {});
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.entries(given).sort(([a], [b]) => place(a) - place(b));
}
