import { Fragment, type ReactNode } from 'react';

/** Placeholder for an element in a sentence; neither texts nor names contain this character. */
export const slot = '\uFFFC';

/**
 * A sentence with an element in the position that the language requires: <Filled text={t('degraded.since', { at: slot
 * })}>…</Filled>.
 */
export function Filled({ text, children }: { text: string; children: ReactNode }) {
  return text.split(slot).map((part, i) => <Fragment key={i}>{i > 0 && children}{part}</Fragment>);
}
