import type { Finding, FindingStatus } from '../../api/types.ts';

/** The statuses of findings, the worst first. */
export const severities = ['failing', 'warning', 'unknown', 'ok'] as const satisfies readonly FindingStatus[];

/** Groups findings by status, the worst first, in the server's order within each; leaves out empty groups. */
export function bySeverity(findings: readonly Finding[]): { status: FindingStatus; findings: Finding[] }[] {
  return severities.map((status) => ({ status, findings: findings.filter((finding) => finding.status === status) })).filter((group) => group.findings.length > 0);
}
