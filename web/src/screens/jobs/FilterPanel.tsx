import { type MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { jobsAddress, jobStates, type JobFilter } from '../../lib/jobFilter.ts';
import { isPlainClick } from '../../parts/PlainLink.tsx';
import classes from './FilterPanel.module.css';
import { GroupTree } from './GroupTree.tsx';
import { LabelFilter } from './LabelFilter.tsx';
import { SavedFilters } from './SavedFilters.tsx';
import { TraitFilter } from './TraitFilter.tsx';
import type { Saved } from './useSavedFilters.ts';

/** All filters of the list, beside it on a desktop, in a dialog on a phone. */
export function FilterPanel({ filter, saved, onChange }: { filter: JobFilter; saved: Saved; onChange: (filter: JobFilter) => void }) {
  const { t } = useTranslation();
  const pick = (event: MouseEvent, state: JobFilter['state']) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    onChange({ ...filter, state });
  };
  return (
    <div className={classes.panel}>
      <SavedFilters {...saved} onChange={onChange} />
      <TraitFilter filter={filter} onChange={onChange} />
      <GroupTree filter={filter} onChange={(group) => onChange({ ...filter, group })} />
      <nav className={classes.section} aria-label={t('jobs.state')}>
        <h2 className={classes.name}>{t('jobs.state')}</h2>
        <ul className={classes.chips}>
          {[undefined, ...jobStates].map((state) => (
            <li key={state ?? ''}>
              <a href={jobsAddress({ ...filter, state })} className={classes.chip} aria-current={filter.state === state ? 'true' : undefined} onClick={(event) => pick(event, state)}>
                {t(state ? `jobs.states.${state}` : 'jobs.anyState')}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <LabelFilter selector={filter.labels ?? ''} onChange={(labels) => onChange({ ...filter, labels: labels || undefined })} />
    </div>
  );
}
