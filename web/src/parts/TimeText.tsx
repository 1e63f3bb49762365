import { useCallback, useState, useSyncExternalStore } from 'react';
import { useText } from '../i18n/useText.ts';
import { currentSecond, subscribeSeconds } from '../lib/ticks.ts';
import { formatTime, inFull, relativeTime } from '../lib/time.ts';

/** A time in the viewer's zone, near ones by the name of their day; the tooltip has it in full, in the job's zone as well if given. */
export function TimeText({ at, zone }: { at: string; zone?: string | undefined }) {
  const { language } = useText();
  // Renders again at midnight only.
  const text = useSyncExternalStore(subscribeSeconds, useCallback(() => formatTime(at, language), [at, language]));
  return (
    <time dateTime={at} title={inFull(at, language, zone)} className="nowrap">
      {text}
    </time>
  );
}

interface Relative {
  at: string;
  zone?: string | undefined;
  /** For tables. */
  short?: boolean;
  /** The time of something to come: once it has passed, it is "now" until the next one is known. */
  ahead?: boolean;
}

/** A time relative to now, kept up to date; the tooltip has the time itself. */
export function RelativeTime({ at, zone, short = false, ahead = false }: Relative) {
  const { language } = useText();
  // Compares the text, so that only changed texts render after each second.
  const text = useSyncExternalStore(subscribeSeconds, useCallback(() => relativeTime(at, ahead ? Math.min(currentSecond(), Date.parse(at)) : currentSecond(), language, short ? 'short' : 'long'), [at, language, short, ahead]));
  const [hovered, setHovered] = useState(false);
  return (
    <time dateTime={at} title={hovered ? inFull(at, language, zone) : undefined} className="nowrap" onPointerEnter={() => setHovered(true)}>
      {text}
    </time>
  );
}
