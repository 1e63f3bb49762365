import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { visible } from '../lib/visible.ts';
import { Icon } from './icons.tsx';
import classes from './UsedByJobs.module.css';

/** The number of jobs that refer to an object; shows and hides their list. */
export function UsedByButton({ count, open, onToggle }: { count: number; open: boolean; onToggle: () => void }) {
  const { t } = useTranslation();
  if (count === 0) return <span className="dim">{t('usedBy.none')}</span>;
  return (
    <button type="button" className={classes.toggle} aria-expanded={open} onClick={onToggle}>
      {t('usedBy.jobs', { count })} <Icon name={open ? 'up' : 'down'} size={13} />
    </button>
  );
}

/** The jobs that refer to an object: the first of them by name, and the number of the others. */
export function UsedByJobs({ label, names, count }: { label: string; names: readonly string[]; count: number }) {
  const { t } = useTranslation();
  const left = count - names.length;
  return (
    <ul className={classes.jobs} aria-label={label}>
      {names.map((name) => <li key={name}><Link to="/jobs/$name" params={{ name }} className="break">{visible(name)}</Link></li>)}
      {left > 0 && <li className="dim">{t('usedBy.more', { count: left })}</li>}
    </ul>
  );
}
