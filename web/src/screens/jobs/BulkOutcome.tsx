import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { BulkAction } from '../../api/bulk.ts';
import { Problem } from '../../api/problem.ts';
import type { BulkItem } from '../../api/types.ts';
import { sentences } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { faultText, problemText } from '../../parts/problemText.ts';
import classes from './BulkDialog.module.css';

const atOnce = 100;
const weight: Record<BulkItem['result'], number> = { refused: 0, unknown: 1, done: 2 };

interface Props {
  action: BulkAction;
  items: readonly BulkItem[];
  /** Titles of the jobs by name. */
  titles: ReadonlyMap<string, string | undefined>;
  /** Jobs that were not processed. */
  left: number;
  error: Error | undefined;
  onGoOn: () => void;
  onClose: () => void;
}

/** The result for each job: refused ones first, with the reason. */
export function BulkOutcome({ action, items, titles, left, error, onGoOn, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const [most, setMost] = useState(atOnce);
  const number = (n: number) => new Intl.NumberFormat(i18n.language).format(n);
  const counted = (result: BulkItem['result']) => items.filter((item) => item.result === result).length;
  const counts = [
    { tone: 'ok', said: `jobs.bulk.${action}.done` as const, count: counted('done'), always: true },
    { tone: 'bad', said: 'jobs.bulk.refused' as const, count: counted('refused') },
    { tone: 'warn', said: 'jobs.bulk.unknown' as const, count: counted('unknown') },
    { tone: 'warn', said: 'jobs.bulk.left' as const, count: left },
  ];
  const sorted = [...items].sort((a, b) => weight[a.result] - weight[b.result]);
  return (
    <Stack gap="md" data-outcome="">
      <div role="status">
        <ul className={classes.counts}>
          {counts.map(({ tone, said, count, always }) => (count > 0 || always) && <li key={said} data-tone={tone}><Filled text={t(said, { count, number: slot })}><strong>{number(count)}</strong></Filled></li>)}
        </ul>
      </div>
      {error && <ProblemNotice error={error} />}
      {counted('unknown') > 0 && <div className="small dim">{t('jobs.bulk.unknownText')}</div>}
      {items.length > 0 && (
        <div className={classes.scroll} tabIndex={0} role="group" aria-label={t('jobs.bulk.outcomes')}>
          <table className={classes.table}>
            <tbody>
              {sorted.slice(0, most).map((item) => (
                <tr key={item.name} data-outcome-of={item.name} data-result={item.result}>
                  <td>{titles.get(item.name) && <div><PlainText>{titles.get(item.name) ?? ''}</PlainText></div>}<code>{item.name}</code></td>
                  <td><Became action={action} item={item} /></td>
                </tr>
              ))}
            </tbody>
          </table>
          {sorted.length > most && <Button variant="subtle" size="xs" fullWidth onClick={() => setMost(most * 5)}>{t('jobs.bulk.showMore', { number: number(sorted.length - most) })}</Button>}
        </div>
      )}
      <Group justify="flex-end">
        {(left > 0 || counted('unknown') > 0) && <Button variant="default" onClick={onGoOn}>{t('jobs.bulk.goOn')}</Button>}
        <Button data-autofocus onClick={onClose}>{t('common.close')}</Button>
      </Group>
    </Stack>
  );
}

function Became({ action, item }: { action: BulkAction; item: BulkItem }) {
  const { t, i18n } = useTranslation();
  const { refusal } = item;
  if (refusal) {
    const problem = new Problem(0, { code: refusal.code, detail: refusal.detail, hint: refusal.hint, reason: refusal.reason, data: refusal.data, errors: [] });
    const { text, hint } = problemText(t, i18n.language, problem);
    const faults = (refusal.errors ?? []).map((f) => faultText(t, i18n.language, { location: f.location ?? '', message: f.message ?? '', code: f.code, hint: f.hint, data: f.data }));
    return <span>{item.result === 'unknown' && <><strong>{t('jobs.bulk.notKnown')}</strong> </>}{visible(sentences([text, hint, ...faults], i18n.language))}</span>;
  }
  if (item.run) return <PlainLink href={`/runs/${item.run}`}>{t('jobs.openRun')}</PlainLink>;
  if (action === 'kill') return <span>{t('jobs.bulk.killed', { count: item.killed?.length ?? 0 })}</span>;
  return <span>{t(`jobs.bulk.${action}.did`)}</span>;
}
