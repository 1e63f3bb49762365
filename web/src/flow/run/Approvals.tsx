import { Button, Group, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import type { Decision, PendingApproval } from '../requests.ts';
import classes from './dialogs.module.css';

interface DialogProps {
  approval: Pick<PendingApproval, 'step' | 'text'>;
  decision: Decision;
  busy: boolean;
  error: Error | null;
  onDecide: (note: string) => void;
  onClose: () => void;
}

/** Asks for an optional note on the decision. */
export function DecisionDialog({ approval, decision, busy, error, onDecide, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [note, setNote] = useState('');
  return (
    <ConfirmDialog title={t(`approvals.${decision}Title`, { step: visible(approval.step) })} confirm={t(`approvals.${decision}`)} mild={decision === 'approve'} busy={busy} error={error} onConfirm={() => onDecide(note.trim())} onCancel={onClose}>
      <Stack gap="md">
        <div className="break">{visible(approval.text)}</div>
        <div>{t(`approvals.${decision}Text`)}</div>
        <Textarea label={t('runDialog.note')} description={t('approvals.noteHelp')} data-autofocus autosize minRows={1} maxRows={4} maxLength={500} value={note} onChange={(event) => setNote(event.currentTarget.value)} />
      </Stack>
    </ConfirmDialog>
  );
}

interface Props {
  approvals: readonly PendingApproval[];
  onDecide: (approval: PendingApproval, decision: Decision) => void;
}

/** The steps that wait for an operator; nothing if there are none. */
export function ApprovalsPanel({ approvals, onDecide }: Props) {
  const { t } = useTranslation();
  if (approvals.length === 0) return null;
  return (
    <Panel title={t('approvals.title')}>
      <ul className={classes.approvals}>
        {approvals.map((approval) => (
          <li key={`${approval.run} ${approval.step}`} className={classes.approval} data-approval={approval.step}>
            <div className={classes.question}>
              <strong className="break">{visible(approval.text)}</strong>
              <div className="small dim">
                <PlainLink href={`/runs/${encodeURIComponent(approval.run)}`}>{t('approvals.of', { flow: visible(approval.flowTitle ?? approval.flow), step: visible(approval.step) })}</PlainLink>{' · '}
                <RelativeTime at={approval.since} />
                {approval.until && <>{' · '}{t('approvals.until')} <RelativeTime at={approval.until} ahead /></>}
              </div>
            </div>
            {approval.mine && (
              <Group gap="xs">
                <Button size="xs" aria-label={t('approvals.approveOf', { step: visible(approval.step) })} onClick={() => onDecide(approval, 'approve')}>{t('approvals.approve')}</Button>
                <Button size="xs" variant="default" aria-label={t('approvals.rejectOf', { step: visible(approval.step) })} onClick={() => onDecide(approval, 'reject')}>{t('approvals.reject')}</Button>
              </Group>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
