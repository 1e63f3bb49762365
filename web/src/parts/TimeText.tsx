import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatTime, formatTimeInZone, relativeTime } from '../lib/time.ts';

/** A time in the viewer's zone; hovering shows it in full, in the job's zone as well where one is given. */
export function TimeText({ at, zone }: { at: string; zone?: string | undefined }) {
  const { i18n } = useTranslation();
  const title = [...new Set([formatTimeInZone(at, i18n.language), zone ? formatTimeInZone(at, i18n.language, zone) : ''])].filter(Boolean).join('\n');
  return (
    <time dateTime={at} title={title} className="nowrap">
      {formatTime(at, i18n.language)}
    </time>
  );
}

/** A time as its distance from now, kept up to date; hovering shows the time itself. */
export function RelativeTime({ at, zone }: { at: string; zone?: string | undefined }) {
  const { i18n } = useTranslation();
  const [now, setNow] = useState(() => Date.now());
  const near = Math.abs(Date.parse(at) - now) < 120_000;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), near ? 1000 : 20_000);
    return () => clearInterval(timer);
  }, [near]);
  const title = [...new Set([formatTimeInZone(at, i18n.language), zone ? formatTimeInZone(at, i18n.language, zone) : ''])].filter(Boolean).join('\n');
  return (
    <time dateTime={at} title={title} className="nowrap">
      {relativeTime(at, now, i18n.language)}
    </time>
  );
}
