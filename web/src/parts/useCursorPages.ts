import { useState } from 'react';

/** Pages through a list that the server pages by cursor. A new subject starts at the first page. */
export function useCursorPages(subject: string) {
  const [state, setState] = useState<{ subject: string; cursors: string[] }>({ subject, cursors: [] });
  const cursors = state.subject === subject ? state.cursors : [];
  return {
    cursor: cursors.at(-1) ?? '',
    page: cursors.length + 1,
    next: (cursor: string) => setState({ subject, cursors: [...cursors, cursor] }),
    previous: () => setState({ subject, cursors: cursors.slice(0, -1) }),
  };
}
