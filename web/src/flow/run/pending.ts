import type { TFunction } from 'i18next';
import type { Approval } from '../../api/flowRuns.ts';
import { visible } from '../../lib/visible.ts';
import type { PendingApproval } from '../requests.ts';

/** Returns an approval as the dialogs ask for it. */
export function pendingOf({ flow, flowTitle, run, step, text, since, deadline, mayAnswer, barred, approvers, params }: Approval): PendingApproval {
  return { flow, flowTitle, run, step, text: text === '' ? step : text, since, until: deadline, mine: mayAnswer === true, barred, approvers, params };
}

/** Says why the user may not approve the step, or not answer it; undefined if they may, or need the usual role. */
export function whyNot(t: TFunction, { mine, barred, approvers }: Pick<PendingApproval, 'mine' | 'barred' | 'approvers'>): string | undefined {
  if (mine) return barred === true ? t('approvals.barred') : undefined;
  if (!approvers) return undefined;
  const { group, role } = approvers;
  const least = role === 'admin' || role === 'editor' ? t(`roles.${role}`) : t('roles.operator');
  return group === undefined ? t('approvals.onlyRole', { role: least }) : t('approvals.onlyGroup', { group: visible(group), role: least });
}
