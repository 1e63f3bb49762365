import { Fragment, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { parseDiff, sizeOf, type DiffLine } from '../lib/diff.ts';
import { visible } from '../lib/visible.ts';
import classes from './DiffView.module.css';

const signs = { same: ' ', gone: '−', come: '+' } as const;

/** A unified diff as lines with their numbers. A sign marks removed and added lines; screen readers get words. */
export function DiffView({ diff, label }: { diff: string; label: string }) {
  const { t, i18n } = useTranslation();
  const hunks = useMemo(() => parseDiff(diff), [diff]);
  if (hunks.length === 0) return <p className="dim" data-diff="">{t('diff.same')}</p>;
  const number = new Intl.NumberFormat(i18n.language);
  const { gone, come } = sizeOf(hunks);
  return (
    <div className={classes.frame} data-diff="" tabIndex={0} role="group" aria-label={label}>
      <table className={classes.lines}>
        <caption className={classes.size}>
          <span className={classes.come}>{t('diff.come', { count: come, n: number.format(come) })}</span> <span className={classes.gone}>{t('diff.gone', { count: gone, n: number.format(gone) })}</span>
        </caption>
        <thead>
          <tr>
            <th scope="col"><span className="unseen">{t('diff.before')}</span></th>
            <th scope="col"><span className="unseen">{t('diff.after')}</span></th>
            <th scope="col"><span className="unseen">{t('diff.line')}</span></th>
          </tr>
        </thead>
        <tbody>
          {hunks.map((hunk, i) => (
            <Fragment key={i}>
              {hunk.skipped > 0 && (
                <tr className={classes.skipped}>
                  <td colSpan={3}>{t('diff.skipped', { count: hunk.skipped, n: number.format(hunk.skipped) })}</td>
                </tr>
              )}
              {hunk.lines.map((line, k) => (
                <tr key={k} data-kind={line.kind}>
                  <td className={classes.number}>{line.before}</td>
                  <td className={classes.number}>{line.after}</td>
                  <td className={classes.text}>
                    <span className={classes.sign} aria-hidden="true">{signs[line.kind]}</span>
                    {line.kind !== 'same' && <span className="unseen">{t(line.kind === 'gone' ? 'diff.isGone' : 'diff.isCome')} </span>}
                    <code><Marked line={line} /></code>
                  </td>
                </tr>
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Marked({ line: { text, mark, kind } }: { line: DiffLine }) {
  if (!mark) return visible(text);
  const middle = visible(text.slice(...mark));
  return (
    <>
      {visible(text.slice(0, mark[0]))}
      {middle !== '' && (kind === 'gone' ? <del>{middle}</del> : <ins>{middle}</ins>)}
      {visible(text.slice(mark[1]))}
    </>
  );
}
