import { NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { runRanges, type RunSearch } from '../lib/searchParams.ts';
import { WhenField } from './WhenField.tsx';

type Ranged = Pick<RunSearch, 'range' | 'from' | 'to'>;

interface Props {
  search: Ranged;
  onChange: (change: Ranged) => void;
  /** With a visible label. */
  labelled?: boolean;
}

/** The time range of a list or a search of runs. */
export function RunRange({ search, onChange, labelled = false }: Props) {
  const { t } = useTranslation();
  return (
    <>
      <NativeSelect
        {...(labelled ? { label: t('runs.range') } : { 'aria-label': t('runs.range') })} value={search.range ?? ''}
        data={[{ value: '', label: t('runs.anyTime') }, ...runRanges.map((r) => ({ value: r, label: t(`runs.${r}`) }))]}
        onChange={(event) => onChange({ range: runRanges.find((r) => r === event.currentTarget.value) })}
      />
      {search.range === 'custom' && (
        <>
          <WhenField wrapperProps={{ 'data-whole': '' }} label={t('runs.from')} value={search.from} onChange={(from) => onChange({ from })} />
          <WhenField wrapperProps={{ 'data-whole': '' }} label={t('runs.to')} value={search.to} onChange={(to) => onChange({ to })} />
        </>
      )}
    </>
  );
}
