import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useNow } from '../../lib/useNow.ts';
import { minute } from '../../parts/gantt/span.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { ForecastView } from './ForecastView.tsx';
import { RunsView } from './RunsView.tsx';
import { TimelineFilters } from './TimelineFilters.tsx';
import { useLook } from './useLook.ts';

/** What was, is, and will be, on one axis; or what the plan holds for the next days, minute by minute. */
export function TimelinePage() {
  const { t } = useTranslation();
  const now = useNow(1000);
  const look = useLook(now);
  const { search, show } = look;
  return (
    <>
      <PageHead title={t('timeline.title')} name={t('timeline.title')}>
        <SegmentedControl
          aria-label={t('timeline.view')} value={search.view ?? 'runs'} onChange={(view) => show({ ...search, view: view === 'forecast' ? 'forecast' : undefined })}
          data={[{ value: 'runs', label: t('timeline.views.runs') }, { value: 'forecast', label: t('timeline.views.forecast') }]}
        />
        <TimelineFilters search={search} onSearch={show} />
      </PageHead>
      {search.view === 'forecast' ? <ForecastView search={search} onSearch={show} now={Math.floor(now / minute) * minute} /> : <RunsView look={look} now={now} />}
    </>
  );
}
