import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useAnswer } from '../../api/flowRuns.ts';
import { visible } from '../../lib/visible.ts';
import { showNotice } from '../../parts/showNotice.ts';
import type { Decision, PendingApproval } from '../requests.ts';
import { DecisionDialog } from './Approvals.tsx';

type Asked = Pick<PendingApproval, 'run' | 'step' | 'text' | 'params'>;

/** Asks for a note on the decision about an approval, and sends it. */
export function useDecision(): { decide: (approval: Asked, decision: Decision) => void; dialog: ReactNode } {
  const { t } = useTranslation();
  const answer = useAnswer();
  const [asking, setAsking] = useState<{ approval: Asked; decision: Decision }>();
  const close = () => {
    answer.reset();
    setAsking(undefined);
  };
  const send = ({ approval: { run, step }, decision }: NonNullable<typeof asking>, note: string, params: Record<string, string> | undefined) => answer.mutate({ run, step, approve: decision === 'approve', note, params }, {
    onSuccess: () => {
      showNotice(t, t(`approvals.${decision}Done`, { step: visible(step) }));
      close();
    },
  });
  return {
    decide: (approval, decision) => setAsking({ approval, decision }),
    dialog: asking && <DecisionDialog {...asking} busy={answer.isPending} error={answer.error} onClose={close} onDecide={(note, params) => send(asking, note, params)} />,
  };
}
