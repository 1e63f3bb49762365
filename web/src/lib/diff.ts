// Unified diffs, as the server writes them and patch(1) reads them.

export interface DiffLine {
  kind: 'same' | 'gone' | 'come';
  /** Line numbers before and after; absent on the side without this line. */
  before?: number;
  after?: number;
  text: string;
  /** The changed part within the line: start and end. */
  mark?: [number, number];
}

export interface Hunk {
  /** Number of unchanged lines omitted before it. */
  skipped: number;
  lines: DiffLine[];
}

const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Parses a unified diff; ignores everything else. */
export function parseDiff(text: string): Hunk[] {
  const hunks: Hunk[] = [];
  let [before, after, left, right] = [1, 1, 0, 0];
  for (const line of text.split('\n')) {
    const found = header.exec(line);
    if (found && left === 0 && right === 0) {
      [left, right] = [Number(found[2] ?? 1), Number(found[4] ?? 1)];
      // An empty side counts from the line before it.
      const from = Number(found[1]) + (left === 0 ? 1 : 0);
      hunks.push({ skipped: Math.max(0, from - before), lines: [] });
      before = from;
      after = Number(found[3]) + (right === 0 ? 1 : 0);
      continue;
    }
    const hunk = hunks.at(-1);
    if (!hunk || (left === 0 && right === 0)) continue;
    const rest = line.slice(1);
    if (line[0] === '-' && left > 0) {
      hunk.lines.push({ kind: 'gone', before: before++, text: rest });
      left--;
    } else if (line[0] === '+' && right > 0) {
      hunk.lines.push({ kind: 'come', after: after++, text: rest });
      right--;
    } else if (line[0] === ' ' || line === '') {
      hunk.lines.push({ kind: 'same', before: before++, after: after++, text: rest });
      left--;
      right--;
    }
  }
  for (const hunk of hunks) markPairs(hunk.lines);
  return hunks;
}

/** If equally many lines are removed and added, pairs them in order and marks the differences within each pair. */
function markPairs(lines: DiffLine[]): void {
  for (let i = 0; i < lines.length; ) {
    const gone = run(lines, i, 'gone');
    const come = run(lines, i + gone, 'come');
    if (gone > 0 && gone === come) {
      for (let k = i; k < i + gone; k++) {
        const [a, b] = [lines[k], lines[k + gone]];
        if (a && b) [a.mark, b.mark] = differing(a.text, b.text);
      }
    }
    i += Math.max(1, gone + come);
  }
}

function run(lines: DiffLine[], from: number, kind: DiffLine['kind']): number {
  let n = 0;
  while (lines[from + n]?.kind === kind) n++;
  return n;
}

/**
 * Returns the differing middle of two texts; undefined if they have little in common and everything would be marked.
 */
function differing(a: string, b: string): [mark: [number, number] | undefined, mark: [number, number] | undefined] {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  // Never split a surrogate pair.
  if (head > 0 && /[\ud800-\udbff]/.test(a[head - 1] ?? '')) head--;
  if (tail > 0 && /[\udc00-\udfff]/.test(a[a.length - tail] ?? '')) tail--;
  if (a.slice(0, head).trim() === '' && tail === 0) return [undefined, undefined];
  return [[head, a.length - tail], [head, b.length - tail]];
}

/** Returns the numbers of added and removed lines. */
export function sizeOf(hunks: readonly Hunk[]): { gone: number; come: number } {
  const count = (kind: DiffLine['kind']) => hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  return { gone: count('gone'), come: count('come') };
}
