// Plain text of a part of an output, for the clipboard.

import { plainText } from './ansi.ts';
import { mark } from './logline.ts';
import type { LogStore } from './logstore.ts';

/** A position between two characters of a line. */
export interface Place {
  /** Id of the line. */
  name: number;
  /** Number of displayed characters before it. */
  at: number;
}

/** Returns the text between two positions of the shown lines. Split lines are joined again. */
export function textBetween(store: LogStore, from: Place, to: Place, shown: (marks: number) => boolean = () => true): string {
  const parts: string[] = [];
  for (let name = Math.max(from.name, store.first); name <= to.name && name < store.end; name++) {
    const line = store.line(name);
    if (!line || (line.marks & mark.hole) !== 0 || !shown(line.marks)) continue;
    const text = plainText(line.text);
    if (parts.length > 0 && (line.marks & mark.goesOn) === 0) parts.push('\n');
    parts.push(text.slice(name === from.name ? from.at : 0, name === to.name ? to.at : undefined));
  }
  return parts.join('');
}
