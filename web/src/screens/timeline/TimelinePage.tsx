import { ActionIcon, Modal, SegmentedControl, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { memo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { TimelineSearch } from '../../lib/searchParams.ts';
import { useNow } from '../../lib/useNow.ts';
import { minute } from '../../parts/gantt/span.ts';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ForecastView } from './ForecastView.tsx';
import { RunsView } from './RunsView.tsx';
import { TimelineFilters } from './TimelineFilters.tsx';
import { useLook } from './useLook.ts';

/** Past runs and planned fires on one axis, or the forecast by minute. */
export function TimelinePage() {
  const now = useNow(1000);
  const look = useLook(now);
  const { search, show } = look;
  return (
    <>
      <Head search={search} onSearch={show} />
      {search.view === 'forecast' ? <ForecastView search={search} onSearch={show} now={Math.floor(now / minute) * minute} /> : <RunsView look={look} now={now} />}
    </>
  );
}

// The header depends on neither the clock nor the position on the axis.
const Head = memo(function Head({ search, onSearch }: { search: TimelineSearch; onSearch: (search: TimelineSearch) => void }) {
  const { t } = useTranslation();
  const phone = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const [filtering, setFiltering] = useState(false);
  const narrowed = Boolean(search.group || (search.view !== 'forecast' && (search.job || search.status)));
  return (
    <PageHead title={t('timeline.title')} name={t('timeline.title')}>
      <SegmentedControl
        aria-label={t('timeline.view')} value={search.view ?? 'runs'} onChange={(view) => onSearch({ ...search, view: view === 'forecast' ? 'forecast' : undefined })}
        data={[{ value: 'runs', label: t('timeline.views.runs') }, { value: 'forecast', label: t('timeline.views.forecast') }]}
      />
      {!phone && <TimelineFilters search={search} onSearch={onSearch} />}
      {phone && (
        <ActionIcon variant={narrowed ? 'light' : 'default'} size={36} aria-label={t('jobs.filters')} aria-haspopup="dialog" onClick={() => setFiltering(true)}><Icon name="filter" /></ActionIcon>
      )}
      <Modal opened={phone && filtering} onClose={() => setFiltering(false)} title={t('jobs.filters')} closeButtonProps={{ 'aria-label': t('common.close') }}>
        <Stack gap="sm"><TimelineFilters search={search} onSearch={onSearch} /></Stack>
      </Modal>
    </PageHead>
  );
});
