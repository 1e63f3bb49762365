import { SegmentedControl } from '@mantine/core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { TimelineSearch } from '../../lib/searchParams.ts';
import { useNow } from '../../lib/useNow.ts';
import { minute } from '../../parts/gantt/span.ts';
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
  return (
    <PageHead title={t('timeline.title')} name={t('timeline.title')}>
      <SegmentedControl
        aria-label={t('timeline.view')} value={search.view ?? 'runs'} onChange={(view) => onSearch({ ...search, view: view === 'forecast' ? 'forecast' : undefined })}
        data={[{ value: 'runs', label: t('timeline.views.runs') }, { value: 'forecast', label: t('timeline.views.forecast') }]}
      />
      <TimelineFilters search={search} onSearch={onSearch} />
    </PageHead>
  );
});
