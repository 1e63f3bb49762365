import { useTranslation } from 'react-i18next';
import { formatBytes } from '../../lib/bytes.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { column, DataTable } from '../../parts/DataTable.tsx';
import { JobName } from '../../parts/JobName.tsx';
import type { JobCost } from './load.ts';
import classes from './WorkersPage.module.css';

/** The jobs that cost a worker the most. */
export function CostTable({ costs }: { costs: JobCost[] }) {
  const { t, i18n } = useTranslation();
  const columns = [
    column<JobCost>('job', t('runs.job'), ({ job, title }) => <JobName job={job} title={title} />),
    column<JobCost>('runs', t('runs.title'), ({ runs }) => new Intl.NumberFormat(i18n.language).format(runs), false),
    column<JobCost>('cpu', t('usage.cpuTime'), ({ cpuSeconds }) => formatSeconds(cpuSeconds, i18n.language)),
    column<JobCost>('memory', t('usage.peak'), ({ memoryBytes }) => (memoryBytes === 0 ? t('common.none') : formatBytes(memoryBytes))),
  ];
  return (
    <div>
      <h3 className={classes.part}>{t('usage.costliest')}</h3>
      <DataTable caption={t('usage.costliest')} columns={columns} rows={costs} rowId={({ job }) => job} />
    </div>
  );
}
