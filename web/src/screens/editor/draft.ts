// Unsaved text, stored for this tab: a reload, or the end of a session, loses nothing.

import type { VersionedJob } from '../../api/jobs.ts';
import { draftPrefix } from '../../lib/drafts.ts';

export interface Draft {
  text: string;
  /** The version it is based on; none for a new job. */
  base?: VersionedJob | undefined;
}

/** Owner and subject of a draft: a job, or a new one, which may be a copy. */
export interface DraftOf {
  who: string;
  job: string | undefined;
  from: string | undefined;
}

const keyOf = ({ who, job, from }: DraftOf) => `${draftPrefix} ${JSON.stringify([who, job ?? null, from ?? null])}`;

export function readDraft(of: DraftOf): Draft | undefined {
  try {
    const kept = JSON.parse(window.sessionStorage.getItem(keyOf(of)) ?? 'null') as Partial<Draft> | null;
    return kept && typeof kept.text === 'string' ? { text: kept.text, base: kept.base } : undefined;
  } catch {
    return undefined;
  }
}

export function keepDraft(of: DraftOf, draft: Draft | undefined): void {
  try {
    if (draft) window.sessionStorage.setItem(keyOf(of), JSON.stringify(draft));
    else window.sessionStorage.removeItem(keyOf(of));
  } catch {
    // Storage may be blocked or full; then there is no draft.
  }
}
