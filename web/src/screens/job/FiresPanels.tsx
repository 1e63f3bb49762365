import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Job, Preview } from '../../api/types.ts';
import { sentences } from '../../lib/lists.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { fireColumns } from '../../parts/fireColumns.tsx';
import { FireList } from '../../parts/FireList.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { hasSchedule } from '../../parts/scheduleText.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import type { Upcoming } from './useUpcoming.ts';

const plannedShown = 5;

/** Returns the number of the schedule of each fire, as far as the preview has it. */
function entriesOf({ fires, entries }: Preview, times: readonly string[]): number[] | undefined {
  const known = new Map(fires.map((fire, i) => [Date.parse(fire), entries?.[i]]));
  const found = times.flatMap((fire) => known.get(Date.parse(fire)) ?? []);
  return found.length === times.length ? found : undefined;
}

/** The schedule in words, and its next fires. */
export function NextFires({ job, upcoming: { preview, times, error } }: { job: Job; upcoming: Upcoming }) {
  const { t } = useTranslation();
  if (!hasSchedule(job)) return <p className="dim">{t(job.after?.length ? 'job.noScheduleAfter' : 'job.noSchedule')}</p>;
  if (!preview.data || !times) return error ? <ProblemNotice error={error} /> : <Waiting />;
  return <FireList preview={{ ...preview.data, fires: times, entries: entriesOf(preview.data, times) }} none={t(job.meta.paused ? 'pause.noneWhile' : 'editor.previewNever')} />;
}

/** Past and planned fires in one list, newest first. */
export function JobFires({ job, upcoming: { past, planned } }: { job: Job; upcoming: Upcoming }) {
  const { t, i18n } = useTranslation();
  const columns = useMemo(() => fireColumns(t, i18n.language, false), [t, i18n.language]);
  const taken = past.data?.items ?? [];
  const known = new Set(taken.map((fire) => fire.id));
  const rows = [...planned.filter((fire) => !known.has(fire.id)).slice(0, plannedShown).reverse(), ...taken];
  return (
    <Panel title={t('ledger.fires')} side={rows.length > 0 && <Link to="/ledger" search={{ job: job.name }}>{t('ledger.ofJob')}</Link>}>
      {past.error && !past.data && <ProblemNotice error={past.error} />}
      {!past.data && !past.error && <Waiting />}
      {past.data?.partial && <PartialNotice />}
      {past.data && !past.data.partial && rows.length === 0 && <p className="dim">{sentences([t('job.noRuns'), t('job.noRunsText')], i18n.language)}</p>}
      {rows.length > 0 && <DataTable caption={t('ledger.fires')} columns={columns} rows={rows} rowId={(fire) => fire.id} />}
    </Panel>
  );
}
