// Finds the first line of an output that reports an error.

import { plainText } from './ansi.ts';
import { mark } from './logline.ts';
import { textOf, type LogStore } from './logstore.ts';

const words = 'error|fatal|panic|traceback|exception|segmentation fault|permission denied|command not found|no such file';

/** The search expression for the server, if the lines are not loaded. */
export const errorWords = `\\b(${words})\\b`;

const wrong = new RegExp(errorWords, 'i');

export function tellsOfError(marks: number, text: string): boolean {
  return (marks & mark.hole) === 0 && ((marks & mark.stderr) !== 0 || wrong.test(plainText(text)));
}

/** Scans the loaded lines in parts; undefined if there is no match. */
export async function firstError(store: LogStore, rest: () => Promise<void>): Promise<number | undefined> {
  let deadline = performance.now() + 8;
  for (const { first, block } of store.blocks()) {
    for (let i = 0; i < block.count; i++) if (tellsOfError(block.marks[i] ?? 0, textOf(block, i))) return first + i;
    if (performance.now() < deadline) continue;
    await rest();
    deadline = performance.now() + 8;
  }
  return undefined;
}
