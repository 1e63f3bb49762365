import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { useDryRun } from '../../api/apply.ts';
import { Problem } from '../../api/problem.ts';
import type { Applied } from '../../api/types.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { column, DataTable } from '../../parts/DataTable.tsx';
import { DiffView } from '../../parts/DiffView.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { problemText } from '../../parts/problemText.ts';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import dialogClasses from './dialogs.module.css';
import fieldClasses from './fields.module.css';
import type { Row } from './importPlan.ts';

/** Titles of jobs by name. */
type Titles = ReadonlyMap<string, string | undefined>;

/** The changes that importing these lines would make, job by job. */
export function ImportChanges({ dry, rows, clashes }: { dry: ReturnType<typeof useDryRun>; rows: readonly Row[]; clashes: ReadonlySet<string | undefined> }) {
  const { t } = useTranslation();
  const lines = new Map(rows.map((row) => [row.job?.name, row]));
  if (dry.error) return <ProblemNotice error={dry.error} onRetry={() => void dry.refetch()} />;
  if (!dry.data) return <Waiting rows={4} />;
  return (
    <div className={fieldClasses.stack}>
      <p className={dialogClasses.flat}>{t('crontab.nothingYet')}</p>
      {dry.data.items.map((item) => (
        <details key={item.name} className={`${fieldClasses.more} unfold`} open={item.result === 'changed' || clashes.has(item.name)}>
          <summary>
            <strong>{visible(titled({ name: item.name, title: lines.get(item.name)?.job?.title }))}</strong> <span className="dim">{t(`crontab.wouldBe.${item.result}`)}</span>
            <ReviewedLine row={lines.get(item.name)} />
          </summary>
          {clashes.has(item.name) && <p className={fieldClasses.error} role="alert">{t('crontab.clash')}</p>}
          {item.refusal && <ProblemNotice error={new Problem(422, item.refusal)} />}
          {item.diff && <DiffView diff={item.diff} label={visible(item.name)} />}
        </details>
      ))}
    </div>
  );
}

/** What tells a job from others with a similar name: its line, schedule and command, its input, and when it would first fire. */
function ReviewedLine({ row }: { row: Row | undefined }) {
  const { t } = useTranslation();
  if (!row?.job) return null;
  const { line, job } = row;
  return (
    <div className="small break" data-reviewed={line.line}>
      {line.line > 0 && <span className="dim">{t('crontab.atLine', { line: line.line })}</span>} <code>{visible(job.cronExpr ?? '')}</code> <code>{visible(job.command ?? '')}</code>
      {job.stdin && <div><span className="dim">{t('crontab.input')}</span> <code>{visible(job.stdin.trimEnd())}</code></div>}
      {line.nextFire && <div><span className="dim">{t('crontab.first')}</span> <TimeText at={line.nextFire} /></div>}
    </div>
  );
}

/** The result for each job. */
export function ImportOutcome({ items, titles, onLeave }: { items: Applied[]; titles: Titles; onLeave: () => void }) {
  const { t, i18n } = useTranslation();
  const columns = [
    column<Applied>('job', t('crontab.job'), (item) => (
      <>
        {item.result === 'refused' ? visible(titled({ name: item.name, title: titles.get(item.name) })) : <Link to="/jobs/$name" params={{ name: item.name }} onClick={onLeave}>{visible(titled({ name: item.name, title: titles.get(item.name) }))}</Link>}
        {item.refusal && <div className={dialogClasses.remark} data-level="fault">{visible(problemText(t, i18n.language, new Problem(422, item.refusal)).text)}</div>}
      </>
    )),
    column<Applied>('result', t('crontab.result'), (item) => t(`crontab.results.${item.result}`)),
  ];
  return <DataTable caption={t('crontab.outcome')} columns={columns} rows={items} rowId={(item) => item.name} />;
}
