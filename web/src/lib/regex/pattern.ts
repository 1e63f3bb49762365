// An expression that is looked for in many lines: by the browser where it is known to be quick, else by what is never slow.

import { Finder } from './finder.ts';
import { Parser, Unknown, type Node } from './parse.ts';

export interface Pattern {
  /** The first match from a place on: where it begins and ends. */
  find: (text: string, from: number) => [number, number] | undefined;
}

/** As the browser finds it. */
export function native(expression: RegExp): Pattern {
  return {
    find: (text, from) => {
      expression.lastIndex = from;
      const found = expression.exec(text);
      return found ? [found.index, found.index + found[0].length] : undefined;
    },
  };
}

/** How many ways a browser may have to try from one place: so many, for each length that one repetition may have. */
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

/** The pattern of an expression; says so where it is none, or none that can be found in a time that is known. */
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
