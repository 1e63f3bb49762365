// Carriage returns as in a terminal: text after one overwrites the text before. A progress bar becomes a single line.

import { applySgr, plain, sgrOf, tokens, type Style } from './ansi.ts';

interface Cell {
  char: string;
  style: Style;
}

/** Returns the remaining text of a line with carriage returns, with colours, and the number of overwrites. */
export function overwritten(line: string): { text: string; times: number } {
  const cells: Cell[] = [];
  let style = plain;
  let at = 0;
  let times = 0;
  line.split('\r').forEach((part, i) => {
    at = 0;
    if (i > 0 && part !== '' && cells.length > 0) times++;
    for (const token of tokens(part)) {
      if ('sgr' in token) style = applySgr(style, token.sgr);
      else if ('erase' in token) cells.length = Math.min(cells.length, at);
      else for (const char of token.text) cells[at++] = { char, style };
    }
  });
  let text = '';
  let last = plain;
  for (const { char, style: own } of cells) {
    if (own !== last) text += sgrOf(own);
    last = own;
    text += char;
  }
  return { text: style === last ? text : text + sgrOf(style), times };
}
