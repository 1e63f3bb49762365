import { visible } from '../lib/visible.ts';

/**
 * Text from a user or a command: a text node, isolated from the writing direction around it, with invisible characters
 * shown.
 */
export function PlainText({ children }: { children: string }) {
  return <bdi>{visible(children)}</bdi>;
}
