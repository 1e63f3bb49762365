import { Loader } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import classes from './dialogs.module.css';

interface Props {
  title: string;
  loading: boolean;
  error: Error | null;
  /** Shown while the form has no request yet. */
  hint: string;
  children: ReactNode;
}

/** What a request would do, above the button that sends it. */
export function PreviewPart({ title, loading, error, hint, children }: Props) {
  const { t } = useTranslation();
  return (
    <section aria-label={title} className={classes.preview} aria-busy={loading}>
      {loading ? <span className={classes.loading}><Loader size="xs" aria-hidden="true" /> {t('rerun.loading')}</span> : error ? <ProblemNotice error={error} /> : (children ?? <span className="dim">{hint}</span>)}
    </section>
  );
}

const most = 200;

/** A list of names that scrolls; of a very long one the beginning. */
export function PreviewList({ label, items, total = items.length }: { label: string; items: readonly string[]; total?: number }) {
  const { t } = useTranslation();
  return (
    <ul className={classes.list} tabIndex={0} aria-label={label}>
      {items.slice(0, most).map((item) => <li key={item} className="break">{item}</li>)}
      {total > most && <li className="dim">{t('nodeDrawer.more', { count: total - Math.min(most, items.length) })}</li>}
    </ul>
  );
}
