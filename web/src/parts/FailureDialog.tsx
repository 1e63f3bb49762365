import { Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAcknowledge, useRerun, type FireResults } from '../api/failures.ts';
import { Problem } from '../api/problem.ts';
import { sentences } from '../lib/lists.ts';
import { visible } from '../lib/visible.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import classes from './FailureDialog.module.css';
import { PlainLink } from './PlainLink.tsx';
import { problemText } from './problemText.ts';
import { newKey } from './runRequest.ts';
import { RerunList, type Failure } from './RerunList.tsx';
import { showDone } from './showDone.tsx';
import { showWarnings } from './showWarnings.ts';

export type FailureAct = 'ack' | 'rerun';

interface Props {
  act: FailureAct;
  fires: readonly Failure[];
  /** Done reports that the action was applied to at least one of them. */
  onClose: (done: boolean) => void;
}

/** Asks for an optional note, acts on failed fires, and lists those that were refused. */
export function FailureDialog({ act, fires, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const acknowledge = useAcknowledge();
  const rerun = useRerun();
  const [note, setNote] = useState('');
  const [key] = useState(newKey);
  const [results, setResults] = useState<FireResults | undefined>();
  const count = fires.length;
  const sending = act === 'ack' ? acknowledge : rerun;
  const finish = (answer: FireResults) => {
    if (answer.refused + answer.unknown > 0) return setResults(answer);
    showDone(t, i18n.language, act, answer, fires);
    showWarnings(t, i18n.language, answer.items.flatMap(({ warnings }) => warnings ?? []));
    onClose(true);
  };
  const confirm = () => {
    const order = { fires: fires.map(({ id }) => id), note: note.trim() };
    if (act === 'ack') acknowledge.mutate(order, { onSuccess: finish });
    else rerun.mutate({ ...order, key }, { onSuccess: finish });
  };
  if (results) return <Results act={act} results={results} onClose={() => onClose(results.done > 0)} />;
  return (
    <ConfirmDialog title={t(`failures.${act}.title`, { count })} confirm={t(`failures.${act}.confirm`, { count })} mild busy={sending.isPending} error={sending.error} onConfirm={confirm} onCancel={() => onClose(false)}>
      <Stack gap="md">
        <div>{t(`failures.${act}.text`)}</div>
        {act === 'rerun' && <RerunList fires={fires} />}
        <Textarea label={t('failures.note')} description={t(`failures.${act}.note`)} data-autofocus autosize minRows={1} maxRows={4} maxLength={400} value={note} onChange={(e) => setNote(e.currentTarget.value)} />
      </Stack>
    </ConfirmDialog>
  );
}

/** The result for each fire; refused ones first. */
function Results({ act, results, onClose }: { act: FailureAct; results: FireResults; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const sorted = [...results.items].sort((a, b) => Number(a.result === 'done') - Number(b.result === 'done'));
  const why = ({ refusal }: FireResults['items'][number]) => {
    if (!refusal) return undefined;
    const { text, hint } = problemText(t, i18n.language, new Problem(0, { code: refusal.code, detail: refusal.detail, hint: refusal.hint, reason: refusal.reason, data: refusal.data, errors: [] }));
    return visible(sentences([text, hint], i18n.language));
  };
  return (
    <Modal opened onClose={onClose} title={t(`failures.${act}.partly`)} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack gap="md" data-failure-results="">
        <p className={classes.sum} role="status">{t(`failures.${act}.done`, { count: results.done })} {t('failures.refused', { count: results.refused + results.unknown })}</p>
        <ul className={classes.list} tabIndex={0} aria-label={t('failures.results')}>
          {sorted.map((item) => (
            <li key={item.fire} data-result={item.result}>
              <strong>{item.job ?? visible(item.fire)}</strong>{' '}
              {why(item) ?? (item.run ? <PlainLink href={`/runs/${item.run}`}>{t('jobs.openRun')}</PlainLink> : t('failures.did'))}
            </li>
          ))}
        </ul>
        <Group justify="flex-end"><Button data-autofocus onClick={onClose}>{t('common.close')}</Button></Group>
      </Stack>
    </Modal>
  );
}
