import { Alert, NativeSelect, SegmentedControl, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob } from '../api/jobs.ts';
import { useOpenCleanUp } from '../api/flowRuns.ts';
import { useKillRun, useRun } from '../api/runs.ts';
import type { Signal } from '../api/types.ts';
import { formatSeconds, parseDuration } from '../lib/duration.ts';
import { titled } from '../lib/jobTitle.ts';
import { visible } from '../lib/visible.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { EndingText } from './EndingText.tsx';
import { Icon } from './icons.tsx';
import { showNotice } from './showNotice.ts';

interface Props {
  id: string;
  job: string;
  jobTitle?: string | undefined;
  /** The run has not started: it is cancelled. */
  waits?: boolean;
  onClose: () => void;
}

const others = ['INT', 'QUIT', 'HUP', 'USR1', 'USR2'] as const satisfies readonly Signal[];
type Other = (typeof others)[number];

/** Asks how to kill a run and describes the effect. */
export function KillDialog({ id, job, jobTitle, waits = false, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const kill = useKillRun();
  const [note, setNote] = useState('');
  const [chosen, setChosen] = useState<'TERM' | 'KILL' | 'other'>();
  const [other, setOther] = useState<Other>('INT');
  const grace = useJob(job, { enabled: !waits }).data?.job.killGrace ?? '10s';
  const run = useRun(id).data;
  const ending = run?.ending;
  const cleanUp = useOpenCleanUp(run);
  // A user who returns to an ending run may kill it at once.
  const how = chosen ?? (ending ? 'KILL' : 'TERM');
  const signal = how === 'other' ? other : how;
  const does = () => {
    const seconds = parseDuration(grace);
    const words = { grace: seconds === undefined ? visible(grace) : formatSeconds(seconds, i18n.language), signal: `SIG${signal}` };
    if (cleanUp) return t('kill.cleanUpText');
    if (ending) return how === 'KILL' ? t('kill.endGrace') : t('kill.sendMore', words);
    return how === 'KILL' ? t('kill.atOnceText') : how === 'other' ? t('kill.otherText', words) : t('kill.text', words);
  };
  const confirm = () =>
    kill.mutate({ id, note: note.trim(), ...(cleanUp ? { force: true } : !waits && { signal }) }, {
      onSuccess: () => {
        showNotice(t, waits ? t('kill.cancelled') : t('kill.sent'));
        onClose();
      },
    });
  return (
    <ConfirmDialog
      title={t(cleanUp ? 'kill.cleanUpTitle' : waits ? 'kill.cancelTitle' : 'kill.title', { job: visible(titled({ name: job, title: jobTitle })) })} confirm={t(cleanUp ? 'kill.cleanUpConfirm' : waits ? 'kill.cancel' : 'kill.confirm')} cancel={t('kill.leave')} busy={kill.isPending} error={kill.error}
      onConfirm={confirm} onCancel={onClose}
    >
      <Stack gap="md">
        {ending && <Alert color="yellow" variant="light" icon={<Icon name="clock" />}><EndingText ending={ending} /></Alert>}
        {!waits && !cleanUp && (
          <SegmentedControl
            fullWidth aria-label={t('kill.how')} value={how} onChange={(value) => setChosen(value as typeof how)}
            data={[{ value: 'TERM', label: t('kill.ask') }, { value: 'KILL', label: t('kill.atOnce') }, { value: 'other', label: t('kill.other') }]}
          />
        )}
        {how === 'other' && !cleanUp && (
          <NativeSelect label={t('kill.signal')} value={other} onChange={(event) => setOther(event.currentTarget.value as Other)} data={others.map((value) => ({ value, label: t(`kill.signals.${value}`) }))} />
        )}
        <div>{waits ? t('kill.cancelText') : does()}</div>
        <Textarea label={t('kill.note')} description={t(cleanUp ? 'kill.cleanUpNoteHelp' : 'kill.noteHelp')} autosize minRows={1} maxRows={4} maxLength={500} value={note} onChange={(e) => setNote(e.currentTarget.value)} />
      </Stack>
    </ConfirmDialog>
  );
}
