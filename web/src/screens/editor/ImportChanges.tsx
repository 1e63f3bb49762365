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
import { Waiting } from '../../parts/Waiting.tsx';
import dialogClasses from './dialogs.module.css';
import fieldClasses from './fields.module.css';

/** Titles of jobs by name. */
type Titles = ReadonlyMap<string, string | undefined>;

/** The changes that importing these jobs would make, job by job. */
export function ImportChanges({ dry, titles, clashes }: { dry: ReturnType<typeof useDryRun>; titles: Titles; clashes: ReadonlySet<string | undefined> }) {
  const { t } = useTranslation();
  if (dry.error) return <ProblemNotice error={dry.error} onRetry={() => void dry.refetch()} />;
  if (!dry.data) return <Waiting rows={4} />;
  return (
    <div className={fieldClasses.stack}>
      <p className={dialogClasses.flat}>{t('crontab.nothingYet')}</p>
      {dry.data.items.map((item) => (
        <details key={item.name} className={`${fieldClasses.more} unfold`} open={item.result === 'changed' || clashes.has(item.name)}>
          <summary><strong>{visible(titled({ name: item.name, title: titles.get(item.name) }))}</strong> <span className="dim">{t(`crontab.wouldBe.${item.result}`)}</span></summary>
          {clashes.has(item.name) && <p className={fieldClasses.error} role="alert">{t('crontab.clash')}</p>}
          {item.refusal && <ProblemNotice error={new Problem(422, item.refusal)} />}
          {item.diff && <DiffView diff={item.diff} label={visible(item.name)} />}
        </details>
      ))}
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
