// Moving through the list of a page by keys: the focus goes to the next entry, or to its first link.

const entries = '#content :is([data-row], [data-fire])';

/** Moves the focus to the next (1) or previous (-1) entry of the page's list; false if there is no list. */
export function moveInList(step: 1 | -1, page: ParentNode = document): boolean {
  const rows = [...page.querySelectorAll<HTMLElement>(entries)].filter((row) => row.getClientRects().length > 0);
  if (rows.length === 0) return false;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))];
  // A row that takes the focus itself handles further keys.
  const target = next?.hasAttribute('tabindex') ? next : next?.querySelector<HTMLElement>('a[href]');
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
  return target !== undefined;
}

/** Submits the dialog whose text area has the focus; false if none has. */
export function submitDialog(target: EventTarget | null): boolean {
  const form = target instanceof HTMLTextAreaElement ? target.closest<HTMLFormElement>('[role=dialog] form') : null;
  form?.requestSubmit();
  return form !== null;
}
