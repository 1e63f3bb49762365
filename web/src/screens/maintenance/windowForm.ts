import type { MaintenanceWindow, WindowDefinition } from '../../api/types.ts';

export type Scope = 'groups' | 'selector' | 'workers' | 'everything';

/** What the form holds of a maintenance window. */
export interface WindowForm {
  name: string;
  scope: Scope;
  groups: string[];
  selector: string;
  workers: string[];
  recurs: boolean;
  from: string | undefined;
  to: string | undefined;
  cronExpr: string;
  timezone: string;
  duration: string;
  policy: 'hold' | 'skip';
  note: string;
}

/** Returns the form of a window, or of a new one that begins at once and lasts two hours. */
export function windowForm(window: MaintenanceWindow | undefined, now: number, zone: string): WindowForm {
  const scope: Scope = window?.everything ? 'everything' : window?.selector ? 'selector' : window?.workers?.length ? 'workers' : 'groups';
  return {
    name: window?.name ?? '',
    scope,
    groups: window?.groups ?? [],
    selector: window?.selector ?? '',
    workers: window?.workers ?? [],
    recurs: window?.cronExpr !== undefined,
    from: window?.from,
    to: window ? window.to : new Date(now + 2 * 3600_000).toISOString(),
    cronExpr: window?.cronExpr ?? '0 2 * * SUN',
    timezone: window?.timezone ?? zone,
    duration: window?.duration ?? '2h',
    policy: window?.policy ?? 'hold',
    note: window?.note ?? '',
  };
}

/** Returns the definition that a form describes: the fields of the chosen scope and times only. */
export function definitionOfWindow(form: WindowForm): WindowDefinition {
  const note = form.note.trim();
  return {
    ...(form.scope === 'groups' && { groups: form.groups }),
    ...(form.scope === 'selector' && { selector: form.selector.trim() }),
    ...(form.scope === 'workers' && { workers: form.workers }),
    ...(form.scope === 'everything' && { everything: true }),
    ...(form.recurs
      ? { cronExpr: form.cronExpr.trim(), timezone: form.timezone.trim(), duration: form.duration.trim() }
      : { ...(form.from !== undefined && { from: form.from }), ...(form.to !== undefined && { to: form.to }) }),
    policy: form.policy,
    ...(note !== '' && { note }),
  };
}
