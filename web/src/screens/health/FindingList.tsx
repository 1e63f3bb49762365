import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Condition, Finding } from '../../api/types.ts';
import { localTimes } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { ConditionText, NamedLink } from '../../parts/ConditionText.tsx';
import { conditionParts, namesIn, type ConditionPart } from '../../parts/conditions.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { serverText } from '../../parts/problemText.ts';
import { ToneBadge } from '../../parts/ToneBadge.tsx';
import classes from './health.module.css';

const looks = { failing: { icon: 'close', tone: 'bad' }, warning: { icon: 'warn', tone: 'warn' }, unknown: { icon: 'question', tone: 'idle' }, ok: { icon: 'check', tone: 'ok' } } as const;

/** The name of a check; an unknown one is shown by its code. */
function checkName(t: TFunction, check: string): string {
  // Keys are built from the server's codes, which are unknown at compile time.
  return (t as (key: string, options: object) => string)(`health.checks.${check}`, { defaultValue: visible(check.replaceAll('_', ' ')) });
}

interface Words {
  text: readonly ConditionPart[];
  advice: readonly ConditionPart[];
  /** The text is the server's own. */
  own: boolean;
}

/**
 * Returns text and remedy of a finding. Those of a condition are the console's, with links to what it names, and name
 * pages in place of commands; otherwise they are the server's own words in English, or a translation by check.
 */
export function wordsOf(t: TFunction, language: string, finding: Finding): Words {
  const plain = (text: string): ConditionPart[] => (text === '' ? [] : [{ text }]);
  const text = capital(localTimes(finding.text, language));
  if (finding.condition === undefined) {
    const translated = language === 'en' || finding.status !== 'ok' ? undefined : serverText(t, `fine.${finding.check}`);
    return { text: plain(translated ?? text), advice: plain(adviceOf(t, language, finding)), own: translated === undefined };
  }
  const condition = { code: finding.condition as Condition['code'], data: finding.data ?? {}, text, since: '' };
  const words = conditionParts(t, language, condition);
  // Keys are built from the server's codes, which are unknown at compile time.
  const remedy = (t as (key: string, options: object) => string)(`health.remedies.${finding.condition}`, { defaultValue: '' });
  return {
    text: [...words.title, ...(words.text.length > 0 ? [{ text: language === 'en' ? ' ' : '' }, ...words.text] : [])],
    advice: plain(remedy || adviceOf(t, language, finding)),
    own: words.title.length === 1 && words.title[0]?.text === text,
  };
}

const adviceOf = (t: TFunction, language: string, { check, advice = '' }: Finding) => (language === 'en' || advice === '' ? undefined : serverText(t, `remedies.${check}`)) ?? advice;

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

// The page that shows more of what a check is about.
const pages: Record<string, '/workers' | '/notifications' | '/jobs'> = { workers: '/workers', worker: '/workers', versions: '/workers', masters: '/workers', elected: '/workers', notifications: '/notifications', jobs: '/jobs' };

const about = (finding: Finding) => (finding.condition === undefined ? [] : namesIn({ code: finding.condition as Condition['code'], ...(finding.data && { data: finding.data }) }));

export function FindingList({ findings }: { findings: readonly Finding[] }) {
  const { t, i18n } = useTranslation();
  return (
    <ul className={classes.findings}>
      {findings.map((finding, i) => {
        const { text, advice, own } = wordsOf(t, i18n.language, finding);
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
              <div className="break" lang={own ? 'en' : undefined}><ConditionText parts={text} /></div>
              {advice.length > 0 && <div className="break"><span className={classes.label}>{t('health.advice')}</span> <ConditionText parts={advice} /></div>}
              <span className="spaced">
                {about(finding).map(({ kind, name }) => <Filled key={`${kind} ${name}`} text={t(`health.about.${kind}`, { name: slot })}><NamedLink kind={kind} name={name} /></Filled>)}
                {page && <Link to={page}>{t('health.open', { page: t(`nav.${page.slice(1) as 'workers' | 'notifications' | 'jobs'}`) })}</Link>}
              </span>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
