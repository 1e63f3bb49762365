// Prefix of the session storage keys for unsaved text of editors.

export const draftPrefix = 'carillon-draft';

/** Deletes the drafts, so that the next user of the tab does not see them. */
export function forgetDrafts(): void {
  try {
    const { sessionStorage } = window;
    const keys = Array.from({ length: sessionStorage.length }, (_, i) => sessionStorage.key(i) ?? '');
    for (const key of keys) if (key.startsWith(draftPrefix)) sessionStorage.removeItem(key);
  } catch {
    // Storage may be blocked: then there are no drafts.
  }
}
