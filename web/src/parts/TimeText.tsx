import { useCallback, useState, useSyncExternalStore } from 'react';
import { useText } from '../i18n/useText.ts';
import { currentSecond, subscribeSeconds } from '../lib/ticks.ts';
import { formatTime, formatTimeInZone, relativeTime } from '../lib/time.ts';

/** A time in full, in the viewer's zone, and in the job's as well where one is given. */
function inFull(at: string, language: string, zone: string | undefined): string {
  return [...new Set([formatTimeInZone(at, language), zone ? formatTimeInZone(at, language, zone) : ''])].filter(Boolean).join('\n');
}

/** A time in the viewer's zone; hovering shows it in full, in the job's zone as well where one is given. */
export function TimeText({ at, zone }: { at: string; zone?: string | undefined }) {
  const { language } = useText();
  return (
    <time dateTime={at} title={inFull(at, language, zone)} className="nowrap">
      {formatTime(at, language)}
    </time>
  );
}

/** A time as its distance from now, kept up to date; hovering shows the time itself. Short is for tables. */
export function RelativeTime({ at, zone, short = false }: { at: string; zone?: string | undefined; short?: boolean }) {
  const { language } = useText();
  // What is compared is the text, so that only what reads differently after a second is drawn again.
  const text = useSyncExternalStore(subscribeSeconds, useCallback(() => relativeTime(at, currentSecond(), language, short ? 'short' : 'long'), [at, language, short]));
  const [hovered, setHovered] = useState(false);
  return (
    <time dateTime={at} title={hovered ? inFull(at, language, zone) : undefined} className="nowrap" onPointerEnter={() => setHovered(true)}>
      {text}
    </time>
  );
}
