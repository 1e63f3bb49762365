import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Condition, Finding } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { conditionWords } from '../../parts/conditions.ts';
import { serverText } from '../../parts/problemText.ts';
import { ToneBadge } from '../../parts/ToneBadge.tsx';
import classes from './health.module.css';

const looks = { failing: { icon: 'close', tone: 'bad' }, warning: { icon: 'warn', tone: 'warn' }, unknown: { icon: 'question', tone: 'idle' }, ok: { icon: 'check', tone: 'ok' } } as const;

/** The name of a check; an unknown one is shown by its code. */
function checkName(t: TFunction, check: string): string {
  // Keys are built from the server's codes, which are unknown at compile time.
  return (t as (key: string, options: object) => string)(`health.checks.${check}`, { defaultValue: visible(check.replaceAll('_', ' ')) });
}

/** Returns text and remedy of a finding: the server's own words in English; otherwise a translation by code. */
function wordsOf(t: TFunction, language: string, finding: Finding): { text: string; advice: string | undefined } {
  if (language === 'en') return { text: capital(finding.text), advice: finding.advice };
  const advice = finding.advice && (serverText(t, `remedies.${finding.check}`) ?? finding.advice);
  if (finding.status === 'ok') return { text: serverText(t, `fine.${finding.check}`) ?? finding.text, advice };
  if (finding.condition === undefined) return { text: finding.text, advice };
  const { title, text } = conditionWords(t, language, { code: finding.condition as Condition['code'], data: finding.data ?? {}, text: finding.text, since: '' });
  return { text: title, advice: text || advice };
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

// The page that shows more of what a check is about.
const pages: Record<string, '/workers' | '/notifications' | '/jobs'> = { workers: '/workers', worker: '/workers', versions: '/workers', masters: '/workers', elected: '/workers', notifications: '/notifications', jobs: '/jobs' };

export function FindingList({ findings }: { findings: readonly Finding[] }) {
  const { t, i18n } = useTranslation();
  return (
    <ul className={classes.findings}>
      {findings.map((finding, i) => {
        const { text, advice } = wordsOf(t, i18n.language, finding);
        const { icon, tone } = looks[finding.status];
        const page = finding.status === 'ok' ? undefined : pages[finding.check];
        return (
          <li key={i} className={classes.finding} data-check={finding.check} data-status={finding.status}>
            <div className={classes.head}>
              <ToneBadge icon={icon} tone={tone}>{t(`health.status.${finding.status}`)}</ToneBadge>
              <strong>{checkName(t, finding.check)}</strong>
              {finding.who && <code className="break">{visible(finding.who)}</code>}
            </div>
            <div className={classes.text}>
              <div className="break" lang={text === finding.text ? 'en' : undefined}>{visible(text)}</div>
              {advice && <div className="break"><span className={classes.label}>{t('health.advice')}</span> {visible(advice)}</div>}
              {page && <Link to={page}>{t('health.open', { page: t(`nav.${page.slice(1) as 'workers' | 'notifications' | 'jobs'}`) })}</Link>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
