import type { Approval } from '../../api/flowRuns.ts';
import { ApprovalsPanel } from './Approvals.tsx';
import { pendingOf } from './pending.ts';
import { useDecision } from './useDecision.tsx';

/** The steps of flows that wait for an operator, with the buttons to decide them. */
export default function ApprovalAnswers({ approvals }: { approvals: readonly Approval[] }) {
  const { decide, dialog } = useDecision();
  return (
    <>
      <ApprovalsPanel approvals={approvals.map(pendingOf)} onDecide={decide} />
      {dialog}
    </>
  );
}
