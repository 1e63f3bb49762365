import { Fragment, type ReactNode } from 'react';

/** Where in a sentence something of the page stands: no text of ours, and no name, has this character. */
export const slot = '\uFFFC';

/** A sentence with something of the page in it, at the place that the language gives it: <Filled text={t('degraded.since', { at: slot })}>…</Filled>. */
export function Filled({ text, children }: { text: string; children: ReactNode }) {
  return text.split(slot).map((part, i) => <Fragment key={i}>{i > 0 && children}{part}</Fragment>);
}
