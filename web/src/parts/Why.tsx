import { useTranslation } from 'react-i18next';
import type { Reason } from '../api/types.ts';
import { visible } from '../lib/visible.ts';
import { reasonText } from './reasonText.ts';
import classes from './Why.module.css';

/** A reason in the reader's language, with the last line that a failed run printed, unless its output is shown beside it. */
export function Why({ reason, of, output = false }: { reason: Reason; of?: 'reasons' | 'verdicts'; output?: boolean }) {
  const { t, i18n } = useTranslation();
  const why = <bdi>{visible(reasonText(t, i18n.language, reason, of))}</bdi>;
  const line = output ? undefined : reason.data?.lastLine;
  return line ? <span>{why}<LastLine text={line} /></span> : why;
}

/** The last line of the output of a failed run. */
export function LastLine({ text }: { text: string }) {
  const { t } = useTranslation();
  return <span className={`mono small break ${classes.line}`} data-last-line=""><span className="unseen">{t('run.lastLine')} </span><bdi>{visible(text)}</bdi></span>;
}
