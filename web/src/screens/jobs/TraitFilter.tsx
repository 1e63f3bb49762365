import { type MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useTraitCounts } from '../../api/jobList.ts';
import { jobsAddress, jobTraits, toggledTrait, traitsOf, type JobFilter, type JobTrait } from '../../lib/jobFilter.ts';
import { isPlainClick } from '../../parts/PlainLink.tsx';
import classes from './FilterPanel.module.css';

/** Filters by how jobs are doing, each with its number of jobs. Several of them narrow the list together. */
export function TraitFilter({ filter, onChange }: { filter: JobFilter; onChange: (filter: JobFilter) => void }) {
  const { t, i18n } = useTranslation();
  const { data: counts } = useTraitCounts(filter);
  const number = new Intl.NumberFormat(i18n.language);
  const active = traitsOf(filter.is);
  const toggle = (event: MouseEvent, trait: JobTrait) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    onChange({ ...filter, is: toggledTrait(filter.is, trait) });
  };
  return (
    <nav className={classes.section} aria-label={t('jobs.traits')}>
      <h2 className={classes.name}>{t('jobs.traits')}</h2>
      <ul className={classes.chips}>
        {jobTraits.map((trait) => {
          const count = counts?.[trait];
          return (
            <li key={trait}>
              <a
                href={jobsAddress({ ...filter, is: toggledTrait(filter.is, trait) })} className={classes.chip} data-trait={trait} data-some={count ? '' : undefined}
                aria-current={active.includes(trait) ? 'true' : undefined} title={t(`jobs.traitHelp.${trait}`)} onClick={(event) => toggle(event, trait)}
              >
                {t(`jobs.trait.${trait}`)}{count !== undefined && <> <span className={classes.count}>{number.format(count)}</span></>}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
