import { Button, CloseButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { isNarrowed, noGroup, toggledTrait, traitsOf, type JobFilter } from '../../lib/jobFilter.ts';
import { termsOf, withoutTerm } from '../../lib/labelSelector.ts';
import { visible } from '../../lib/visible.ts';
import { originText } from '../../parts/FromDefaults.tsx';
import { Icon } from '../../parts/icons.tsx';
import classes from './JobsPage.module.css';

/** The active filters, each with a button to remove it. */
export function ActiveFilters({ filter, onChange, onSave }: { filter: JobFilter; onChange: (filter: JobFilter) => void; onSave: (() => void) | undefined }) {
  const { t } = useTranslation();
  const { group, state, labels = '' } = filter;
  const parts = [
    group !== undefined && { text: group === noGroup ? t('jobs.withoutGroup') : group, without: { ...filter, group: undefined } },
    state !== undefined && { text: t(`jobs.states.${state}`), without: { ...filter, state: undefined } },
    ...traitsOf(filter.is).map((trait) => ({ text: t(`jobs.trait.${trait}`), without: { ...filter, is: toggledTrait(filter.is, trait) } })),
    ...termsOf(labels).map((term) => ({ text: term, without: { ...filter, labels: withoutTerm(labels, term) || undefined } })),
  ].filter((part) => part !== false);
  if (parts.length === 0 || !isNarrowed(filter)) return null;
  return (
    <ul className={classes.active} aria-label={t('jobs.filters')}>
      {parts.map(({ text, without }) => (
        <li key={text} className={classes.part}>
          <span className={classes.ellipsis}>{visible(text)}</span>
          <CloseButton size="xs" aria-label={t('jobs.withoutFilter', { name: text })} onClick={() => onChange(without)} />
        </li>
      ))}
      {group !== undefined && group !== noGroup && <li><Button variant="subtle" size="compact-sm" leftSection={<Icon name="inherit" size={13} />} aria-label={t('origin.open', { of: originText(t, group) })} renderRoot={(props) => <Link to="/defaults" search={{ group }} {...props} />}>{t('origin.link')}</Button></li>}
      <li><Button variant="subtle" size="compact-sm" onClick={() => onChange({ sort: filter.sort })}>{t('jobs.clearSearch')}</Button></li>
      {onSave && <li><Button variant="subtle" size="compact-sm" leftSection={<Icon name="plus" size={13} />} onClick={onSave}>{t('jobs.saveFilter')}</Button></li>}
    </ul>
  );
}
