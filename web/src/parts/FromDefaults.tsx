import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { allGroups } from '../lib/groups.ts';
import { visible } from '../lib/visible.ts';
import { Filled, slot } from './Filled.tsx';
import classes from './FromDefaults.module.css';

/** Returns which jobs the defaults are of: "group shop", or "all jobs". */
export function originText(t: TFunction, group: string): string {
  return group === allGroups ? t('origin.ofAll') : t('origin.ofGroup', { group: visible(group) });
}

/** The origin of an inherited value, with a link to these defaults. Nothing for a value of the job itself. */
export function FromDefaults({ of }: { of: string | undefined }) {
  const { t } = useTranslation();
  if (of === undefined) return null;
  return (
    <span className={classes.from} data-from={of}>
      <Filled text={t('origin.from', { from: slot })}><Link to="/defaults" search={{ group: of }} className={classes.link}>{originText(t, of)}</Link></Filled>
    </span>
  );
}
