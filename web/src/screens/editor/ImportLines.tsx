import { Checkbox } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CrontabLine } from '../../api/crontab.ts';
import { labelled } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { crontabText } from '../../parts/crontabText.ts';
import { column, DataTable } from '../../parts/DataTable.tsx';
import { faultText } from '../../parts/problemText.ts';
import classes from './dialogs.module.css';

interface Props {
  lines: CrontabLine[];
  isWhole: (line: CrontabLine) => boolean;
  /** Reports whether the user excluded a line that could be imported. */
  isLeft: (line: CrontabLine) => boolean;
  onToggle: (line: CrontabLine) => void;
}

/** The lines of a crontab and the resulting jobs. */
export function ImportLines({ lines, isWhole, isLeft, onToggle }: Props) {
  const { t, i18n } = useTranslation();
  const remarks = (line: CrontabLine) => [
    ...(line.faults ?? []).map((fault) => ({ level: 'fault', text: labelled(fault.location, faultText(t, i18n.language, fault), i18n.language) })),
    ...(line.notices ?? []).map((notice) => ({ level: notice.level, text: crontabText(t, i18n.language, notice) })),
  ];
  const columns = [
    column<CrontabLine>('take', t('crontab.take'), (line) =>
      line.job && <Checkbox aria-label={t('crontab.takeLine', { line: line.line })} checked={isWhole(line) && !isLeft(line)} disabled={!isWhole(line)} onChange={() => onToggle(line)} />,
    ),
    column<CrontabLine>('line', t('crontab.number'), (line) => (line.line > 0 ? line.line : '')),
    column<CrontabLine>('becomes', t('crontab.becomes'), (line) => (
      <div className="break">
        {line.job ? (
          <>
            <strong>{visible(line.job.name)}</strong> <code>{visible(line.job.cronExpr ?? '')}</code>
            <div><code className="small">{visible(line.job.command ?? '')}</code></div>
          </>
        ) : (
          line.text && <code className="small dim">{visible(line.text)}</code>
        )}
        {remarks(line).map((remark, i) => <div key={i} className={classes.remark} data-level={remark.level}>{visible(remark.text)}</div>)}
      </div>
    )),
  ];
  return <DataTable caption={t('crontab.lines')} columns={columns} rows={lines} rowId={(line) => String(line.line)} />;
}
