// An expression to search many lines for: matched by the browser if that is known to be fast, else by the linear-time
// matcher.

import { Finder } from './finder.ts';
import { Parser, Unknown, type Node } from './parse.ts';

export interface Pattern {
  /** Returns the first match from a position on: start and end. */
  find: (text: string, from: number) => [number, number] | undefined;
}

/** Matches with the browser's engine. */
export function native(expression: RegExp): Pattern {
  return {
    find: (text, from) => {
      expression.lastIndex = from;
      const found = expression.exec(text);
      return found ? [found.index, found.index + found[0].length] : undefined;
    },
  };
}

/** Maximum number of alternatives that a browser may try from one position, for each length of a single repetition. */
const mostWays = 64;

interface Ways {
  choices: number;
  open: number;
}

function waysOf(node: Node): Ways {
  switch (node.kind) {
    case 'char':
    case 'at':
      return { choices: 1, open: 0 };
    case 'all':
    case 'any': {
      const parts = node.parts.map(waysOf);
      return { choices: parts.reduce((product, { choices }) => product * choices, node.kind === 'any' ? parts.length : 1), open: parts.reduce((sum, { open }) => sum + open, 0) };
    }
    case 'repeat':
      if (node.of.kind !== 'char') return { choices: Infinity, open: 0 };
      return node.most === Infinity ? { choices: 1, open: 1 } : { choices: node.most - node.least + 1, open: 0 };
  }
}

/** Compiles an expression; returns an error if it is invalid or has no bounded running time. */
export function patternOf(text: string, matchCase: boolean): Pattern | 'invalid' | 'unknown' {
  try {
    const node = new Parser(text, matchCase).parse();
    const { choices, open } = waysOf(node);
    return choices <= mostWays && open <= 1 ? native(new RegExp(text, matchCase ? 'g' : 'gi')) : new Finder(node);
  } catch (error) {
    if (!(error instanceof Unknown || error instanceof SyntaxError)) throw error;
  }
  try {
    new RegExp(text);
    return 'unknown';
  } catch {
    return 'invalid';
  }
}
