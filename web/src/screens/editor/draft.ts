// What was typed and not saved, kept for this tab: a reload, or the end of a session, loses nothing.

import type { VersionedJob } from '../../api/jobs.ts';

export interface Draft {
  text: string;
  /** The version that it began with; none for a new job. */
  base?: VersionedJob | undefined;
}

const keyOf = (name: string | undefined) => `carillon-draft ${name ?? ''}`;

export function readDraft(name: string | undefined): Draft | undefined {
  try {
    const kept = JSON.parse(window.sessionStorage.getItem(keyOf(name)) ?? 'null') as Partial<Draft> | null;
    return kept && typeof kept.text === 'string' ? { text: kept.text, base: kept.base } : undefined;
  } catch {
    return undefined;
  }
}

export function keepDraft(name: string | undefined, draft: Draft | undefined): void {
  try {
    if (draft) window.sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
    else window.sessionStorage.removeItem(keyOf(name));
  } catch {
    // Storage may be blocked or full; then there is no draft.
  }
}
