import { Button, Checkbox, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { labelled } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { crontabText } from '../../parts/crontabText.ts';
import { column, DataTable } from '../../parts/DataTable.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { faultText } from '../../parts/problemText.ts';
import { TimeText } from '../../parts/TimeText.tsx';
import classes from './dialogs.module.css';
import fieldClasses from './fields.module.css';
import type { Decision, Row } from './importPlan.ts';

interface Props {
  rows: Row[];
  onDecide: (rows: readonly Row[], decision: Decision) => void;
}

/** The lines of a crontab and the resulting jobs. */
export function ImportLines({ rows, onDecide }: Props) {
  const { t } = useTranslation();
  const redirected = rows.filter((row) => row.redirect !== undefined && row.taken && !row.unredirected);
  const columns = [
    column<Row>('take', t('crontab.take'), (row) =>
      row.line.job && <Checkbox aria-label={t('crontab.takeLine', { line: row.line.line })} checked={row.taken} disabled={!row.whole} onChange={() => onDecide([row], { take: !row.taken })} />,
    ),
    column<Row>('line', t('crontab.number'), (row) => (row.line.line > 0 ? row.line.line : '')),
    column<Row>('becomes', t('crontab.becomes'), (row) => (
      <div className="break">
        {row.job ? <NewJob row={row} onDecide={onDecide} /> : row.line.text && <code className="small dim">{visible(row.line.text)}</code>}
        <Remarks row={row} />
      </div>
    )),
  ];
  return (
    <>
      {redirected.length > 1 && (
        <div className={classes.offer}>
          <span>{t('crontab.redirectedLines', { count: redirected.length })}</span>
          <Button size="compact-sm" variant="default" onClick={() => onDecide(redirected, { unredirect: true })}>{t('crontab.removeRedirects')}</Button>
        </div>
      )}
      <DataTable caption={t('crontab.lines')} columns={columns} rows={rows} rowId={(row) => String(row.line.line)} />
    </>
  );
}

function NewJob({ row, onDecide }: { row: Row } & Pick<Props, 'onDecide'>) {
  const { t } = useTranslation();
  const { line, job } = row;
  if (!job) return null;
  return (
    <>
      {line.exists || !row.whole ? (
        <strong>{visible(job.name)}</strong>
      ) : (
        <TextInput
          className={`${fieldClasses.mono} ${classes.name}`} size="xs" aria-label={t('crontab.nameOf', { line: line.line })} value={job.name} disabled={!row.taken} maxLength={128} spellCheck={false} autoCapitalize="none" autoComplete="off"
          error={row.nameFault && t(row.nameFault === 'nameTwice' ? 'crontab.nameTwice' : 'crontab.nameHelp')} onChange={(e) => onDecide([row], { name: e.currentTarget.value })}
        />
      )}
      {job.title !== undefined && <div>{visible(job.title)}</div>}
      <div className="small"><code>{visible(job.cronExpr ?? '')}</code></div>
      <div className="small"><code>{visible(job.command ?? '')}</code></div>
      {job.stdin && <div className="small" data-input=""><span className="dim">{t('crontab.input')}</span> <code>{visible(job.stdin.trimEnd())}</code></div>}
      {line.nextFire && <div className="small" data-first-fire=""><span className="dim">{t('crontab.first')}</span> <TimeText at={line.nextFire} /></div>}
      {line.exists && (
        <div className={classes.remark}>
          <Filled text={t('crontab.exists', { name: slot })}><Link to="/jobs/$name" params={{ name: job.name }} target="_blank">{visible(job.name)}</Link></Filled>
        </div>
      )}
      {row.redirect !== undefined && (
        <div className={classes.offer} data-redirected={!row.unredirected}>
          <span>{row.unredirected ? t('crontab.unredirected') : t('editor.redirected')}</span>
          <Button size="compact-xs" variant="default" onClick={() => onDecide([row], { unredirect: !row.unredirected })}>{row.unredirected ? t('editor.undo') : t('editor.removeRedirect')}</Button>
        </div>
      )}
    </>
  );
}

function Remarks({ row: { line, redirect } }: { row: Row }) {
  const { t, i18n } = useTranslation();
  const remarks = [
    ...(line.faults ?? []).map((fault) => ({ level: 'fault', text: labelled(fault.location, faultText(t, i18n.language, fault), i18n.language) })),
    ...(line.notices ?? []).filter((notice) => redirect === undefined || notice.code !== 'redirected').map((notice) => ({ level: notice.level, text: crontabText(t, i18n.language, notice) })),
  ];
  return remarks.map((remark, i) => <div key={i} className={classes.remark} data-level={remark.level}>{visible(remark.text)}</div>);
}
