import { useTranslation } from 'react-i18next';
import { fireChoices, type FireChoice } from '../../api/fires.ts';
import { troubleStatuses } from '../../lib/troubles.ts';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import classes from './StatusFilter.module.css';

// Common combinations.
const sets = { trouble: troubleStatuses, didNotRun: ['skipped', 'refused', 'missed'] } as const satisfies Record<string, readonly FireChoice[]>;

interface Props {
  chosen: readonly FireChoice[];
  /** Acknowledged failures are left out. */
  open: boolean;
  onOpen: (open: boolean) => void;
  onChange: (statuses: readonly FireChoice[]) => void;
}

/** Filters by outcome, with several at once. */
export function StatusFilter({ chosen, open, onOpen, onChange }: Props) {
  const { t } = useTranslation();
  const same = (statuses: readonly FireChoice[]) => statuses.length === chosen.length && statuses.every((status) => chosen.includes(status));
  const toggle = (status: FireChoice) => onChange(chosen.includes(status) ? chosen.filter((s) => s !== status) : [...chosen, status]);
  return (
    <div className={classes.chips} role="group" aria-label={t('runs.filterStatus')} data-statuses="">
      <button type="button" className={classes.chip} aria-pressed={chosen.length === 0} onClick={() => onChange([])}>{t('runs.anyStatus')}</button>
      {(Object.keys(sets) as (keyof typeof sets)[]).map((set) => (
        <button key={set} type="button" className={classes.chip} aria-pressed={same(sets[set])} onClick={() => onChange(same(sets[set]) ? [] : sets[set])}>{t(`ledger.sets.${set}`)}</button>
      ))}
      <button type="button" className={classes.chip} aria-pressed={open} onClick={() => onOpen(!open)}>{t('failures.open')}</button>
      <span className={classes.bar} aria-hidden="true" />
      {fireChoices.map((status) => (
        <button key={status} type="button" className={classes.chip} aria-pressed={chosen.includes(status)} data-chip={status} onClick={() => toggle(status)}>{status === 'paused' ? t('ledger.paused') : <StatusBadge status={status} />}</button>
      ))}
    </div>
  );
}
