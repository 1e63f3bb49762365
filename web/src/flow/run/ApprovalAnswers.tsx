import type { Approval } from '../../api/flowRuns.ts';
import type { PendingApproval } from '../requests.ts';
import { ApprovalsPanel } from './Approvals.tsx';
import { useDecision } from './useDecision.tsx';

/** The steps of flows that wait for an operator, with the buttons to decide them. */
export default function ApprovalAnswers({ approvals: found }: { approvals: readonly Approval[] }) {
  const { decide, dialog } = useDecision();
  const approvals = found.map(({ flow, flowTitle, run, step, text, since, deadline, mayAnswer }): PendingApproval => ({ flow, flowTitle, run, step, text: text === '' ? step : text, since, until: deadline, mine: mayAnswer === true }));
  return (
    <>
      <ApprovalsPanel approvals={approvals} onDecide={decide} />
      {dialog}
    </>
  );
}
