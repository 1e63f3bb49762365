// The text of a part of an output, as it is read: for the clipboard.

import { plainText } from './ansi.ts';
import { mark } from './logline.ts';
import type { LogStore } from './logstore.ts';

/** A place between two characters of a line. */
export interface Place {
  /** Of the line. */
  name: number;
  /** How many characters of the line as it is read stand before it. */
  at: number;
}

/** What stands between two places, of the lines that are shown. What was cut because it was long is one line again. */
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
