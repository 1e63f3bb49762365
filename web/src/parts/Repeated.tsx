import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/types.ts';
import { formatTime } from '../lib/time.ts';

export type LastAttempt = NonNullable<Run['last']>;

/** The last attempt of the fire of a failed run, if it is a later one. The attempts, if known, are newer than the run. */
export function lastAttemptOf(run: Run, attempts: readonly Run[] | undefined): LastAttempt | undefined {
  const last = attempts?.at(-1);
  if (last === undefined || last.attempt <= run.attempt) return run.last;
  return { run: last.id, attempt: last.attempt, status: last.status, ...(last.status === 'waiting' && last.dueAt !== undefined && { dueAt: last.dueAt }) };
}

/** What followed a failed attempt, in words. */
export function repeatedText(t: TFunction, language: string, { attempt, status, dueAt }: LastAttempt): string {
  if (status === 'waiting' && dueAt !== undefined && Date.parse(dueAt) > Date.now()) return t('repeated.at', { at: formatTime(dueAt, language) });
  return t(`repeated.${status}`, { n: attempt });
}

/** Links a failed attempt to the one that decides the outcome of its fire. */
export function Repeated({ last }: { last: LastAttempt }) {
  const { t, i18n } = useTranslation();
  return <Link to="/runs/$id" params={{ id: last.run }} search={{}} data-repeated={last.status}>{repeatedText(t, i18n.language, last)}</Link>;
}
