import { useTranslation } from 'react-i18next';
import type { OutputState } from '../../api/output.ts';
import type { Run } from '../../api/types.ts';
import { formatBytes } from '../../lib/bytes.ts';
import classes from './OutputPanel.module.css';

/** The amount of output, and whether more is expected. */
export function LogFoot({ run, state, lines }: { run: Run; state: OutputState; lines: number }) {
  const { t } = useTranslation();
  return (
    <div className={classes.foot}>
      <span>{t((state.from ?? 0) > 0 ? 'run.linesHere' : 'run.lines', { count: lines })} · {t('run.bytes', { size: formatBytes(Math.max(state.size, run.outputBytes)) })}</span>
      <span className={classes.keys} aria-hidden="true">
        <kbd>/</kbd> <kbd>n</kbd> <kbd>N</kbd> {t('run.keyFind')} · <kbd>f</kbd> {t('run.follow')} · <kbd>w</kbd> {t('run.keyWrap')} · <kbd>e</kbd> {t('run.keyError')}
      </span>
      {state.away && <span className={classes.away}>{t('run.away')}</span>}
      {!state.complete && !state.error && !state.away && <span className={classes.live}>{t('run.live')}</span>}
    </div>
  );
}
