import { useTranslation } from 'react-i18next';
import { fireStatuses } from '../../api/fires.ts';
import type { FireStatus } from '../../api/types.ts';
import type { StatusCounts } from '../../lib/figures.ts';
import { troubleStatuses } from '../../lib/troubles.ts';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import classes from './StatusFilter.module.css';

// What people ask for together.
const sets = { trouble: troubleStatuses, didNotRun: ['skipped', 'refused', 'missed'] } as const satisfies Record<string, readonly FireStatus[]>;

interface Props {
  chosen: readonly FireStatus[];
  counts: StatusCounts | undefined;
  onChange: (statuses: readonly FireStatus[]) => void;
}

/** Which ends of fires to list, several at once, with how many of each there are where that is known. */
export function StatusFilter({ chosen, counts, onChange }: Props) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const same = (statuses: readonly FireStatus[]) => statuses.length === chosen.length && statuses.every((status) => chosen.includes(status));
  const toggle = (status: FireStatus) => onChange(chosen.includes(status) ? chosen.filter((s) => s !== status) : [...chosen, status]);
  return (
    <div className={classes.chips} role="group" aria-label={t('runs.filterStatus')} data-statuses="">
      <button type="button" className={classes.chip} aria-pressed={chosen.length === 0} onClick={() => onChange([])}>{t('runs.anyStatus')}</button>
      {(Object.keys(sets) as (keyof typeof sets)[]).map((set) => (
        <button key={set} type="button" className={classes.chip} aria-pressed={same(sets[set])} onClick={() => onChange(same(sets[set]) ? [] : sets[set])}>{t(`ledger.sets.${set}`)}</button>
      ))}
      <span className={classes.bar} aria-hidden="true" />
      {fireStatuses.map((status) => {
        const count = counts?.[status as keyof StatusCounts];
        return (
          <button key={status} type="button" className={classes.chip} aria-pressed={chosen.includes(status)} data-chip={status} onClick={() => toggle(status)}>
            <StatusBadge status={status} />
            {count !== undefined && <span className={classes.count}>{number.format(count)}</span>}
          </button>
        );
      })}
    </div>
  );
}
