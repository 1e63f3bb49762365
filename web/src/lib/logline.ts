// What a line of output is, apart from its text.

export type Stream = 'stdout' | 'stderr';

/** Marks of a line, which add up. */
export const mark = {
  stderr: 1,
  /** It goes on the line before it, which was too long to be one. */
  goesOn: 2,
  /** No line, but the place where bytes are missing; its text is their number. */
  hole: 4,
  /** Carriage returns had earlier text written over. */
  over: 8,
  /** Which stream it came from is known. */
  known: 16,
} as const;

export interface LogLine {
  text: string;
  marks: number;
  /** When the worker read it, in milliseconds; NaN where that is not known. */
  at: number;
  /** Of its first byte, in all that the command printed. */
  offset: number;
}

/** A line longer than this is cut into several, because laying out one huge line stops the browser. */
export const longestLine = 4096;
