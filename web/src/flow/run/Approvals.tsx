import { Button, Group, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { sentences } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ParamInput } from '../../parts/ParamInput.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { faultText } from '../../parts/problemText.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import type { Decision, PendingApproval } from '../requests.ts';
import classes from './dialogs.module.css';
import { whyNot } from './pending.ts';

interface DialogProps {
  approval: Pick<PendingApproval, 'step' | 'text' | 'params'>;
  decision: Decision;
  busy: boolean;
  error: Error | null;
  onDecide: (note: string, params: Record<string, string> | undefined) => void;
  onClose: () => void;
}

/** Asks for an optional note on the decision, and for the parameters of an approval. */
export function DecisionDialog({ approval, decision, busy, error, onDecide, onClose }: DialogProps) {
  const { t, i18n } = useTranslation();
  const [note, setNote] = useState('');
  const declared = Object.entries((decision === 'approve' && approval.params) || {});
  const [values, setValues] = useState(() => Object.fromEntries(declared.map(([name, param]) => [name, param.default ?? ''])));
  const faults = error instanceof Problem ? error.faults : [];
  const faultsAt = (name: string) => faults.filter(({ location }) => location === `params.${name}`);
  const shown = declared.some(([name]) => faultsAt(name).length > 0) && faults.every(({ location }) => declared.some(([name]) => location === `params.${name}`));
  return (
    <ConfirmDialog title={t(`approvals.${decision}Title`, { step: visible(approval.step) })} confirm={t(`approvals.${decision}`)} mild={decision === 'approve'} busy={busy} error={shown ? null : error} onConfirm={() => onDecide(note.trim(), declared.length > 0 ? values : undefined)} onCancel={onClose}>
      <Stack gap="md">
        <div className="break">{visible(approval.text)}</div>
        <div>{t(`approvals.${decision}Text`)}</div>
        {declared.map(([name, param], i) => (
          <ParamInput
            key={name} name={name} param={param} value={values[name] ?? ''} first={i === 0} onChange={(value) => setValues({ ...values, [name]: value })}
            error={sentences(faultsAt(name).map((fault) => visible(faultText(t, i18n.language, fault))), i18n.language) || undefined}
          />
        ))}
        <Textarea label={t('runDialog.note')} description={t('approvals.noteHelp')} data-autofocus={declared.length === 0 || undefined} autosize minRows={1} maxRows={4} maxLength={500} value={note} onChange={(event) => setNote(event.currentTarget.value)} />
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
        {approvals.map((approval) => {
          const why = whyNot(t, approval);
          return (
            <li key={`${approval.run} ${approval.step}`} className={classes.approval} data-approval={approval.step}>
              <div className={classes.question}>
                <strong className="break">{visible(approval.text)}</strong>
                <div className="small dim">
                  <PlainLink href={`/runs/${encodeURIComponent(approval.run)}`}>{t('approvals.of', { flow: visible(approval.flowTitle ?? approval.flow), step: visible(approval.step) })}</PlainLink>{' · '}
                  <RelativeTime at={approval.since} />
                  {approval.until && <>{' · '}{t('approvals.until')} <RelativeTime at={approval.until} ahead /></>}
                </div>
                {why && <div className="small dim break" data-why="">{why}</div>}
              </div>
              {approval.mine && (
                <Group gap="xs">
                  <Button size="xs" disabled={approval.barred === true} aria-label={t('approvals.approveOf', { step: visible(approval.step) })} onClick={() => onDecide(approval, 'approve')}>{t('approvals.approve')}</Button>
                  <Button size="xs" variant="default" aria-label={t('approvals.rejectOf', { step: visible(approval.step) })} onClick={() => onDecide(approval, 'reject')}>{t('approvals.reject')}</Button>
                </Group>
              )}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
