import { Fragment, isValidElement, type ReactNode } from 'react';
import { tightenAt } from '../i18n/tighten.ts';
import { useText } from '../i18n/useText.ts';
import { currentSecond } from '../lib/ticks.ts';
import { formatTime, relativeTime } from '../lib/time.ts';
import { RelativeTime, TimeText } from './TimeText.tsx';

/** Placeholder for an element in a sentence; neither texts nor names contain this character. */
export const slot = '\uFFFC';

/**
 * A sentence with an element in the position that the language requires: <Filled text={t('degraded.since', { at: slot
 * })}>…</Filled>. A time in a Chinese one has spaces only where it does not begin or end with Chinese.
 */
export function Filled({ text, children }: { text: string; children: ReactNode }) {
  const { language } = useText();
  const said = language === 'zh' ? timeOf(children) : undefined;
  return (said === undefined ? text : tightenAt(text, slot, said)).split(slot).map((part, i) => <Fragment key={i}>{i > 0 && children}{part}</Fragment>);
}

/** Returns the Chinese text of a time. */
function timeOf(child: ReactNode): string | undefined {
  if (!isValidElement<{ at: string }>(child)) return undefined;
  if (child.type === TimeText) return formatTime(child.props.at, 'zh');
  return child.type === RelativeTime ? relativeTime(child.props.at, currentSecond(), 'zh') : undefined;
}
