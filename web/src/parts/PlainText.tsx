import { visible } from '../lib/visible.ts';

/** Text that a user or a command wrote: a text node, isolated from the writing direction around it, with unseen characters shown. */
export function PlainText({ children }: { children: string }) {
  return <bdi>{visible(children)}</bdi>;
}
