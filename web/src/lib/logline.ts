// Properties of an output line apart from its text.

export type Stream = 'stdout' | 'stderr';

/** Flags of a line, which are combined bitwise. */
export const mark = {
  stderr: 1,
  /** Continues the previous line, which was too long. */
  goesOn: 2,
  /** Not a line but a gap; its text is the number of missing bytes. */
  hole: 4,
  /** Carriage returns overwrote earlier text. */
  over: 8,
  /** The stream is known. */
  known: 16,
} as const;

export interface LogLine {
  text: string;
  marks: number;
  /** When the worker read it, in milliseconds; NaN if unknown. */
  at: number;
  /** Offset of its first byte in the complete output. */
  offset: number;
}

/** Longer lines are split, because the layout of a huge line blocks the browser. */
export const longestLine = 4096;
