// Lines in the fragment of an address: #L12, #L12-L20, or #B4096 for the line at a byte offset if lines have no
// numbers.

export type LineRange = { from: number; to: number } | { byte: number };

export function readLines(hash: string): LineRange | undefined {
  const lines = /^#?L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash);
  if (lines) {
    const [from, to] = [Number(lines[1]), Number(lines[2] ?? lines[1])];
    return from === 0 || to === 0 ? undefined : { from: Math.min(from, to), to: Math.max(from, to) };
  }
  const byte = /^#?B(\d{1,15})$/.exec(hash);
  return byte ? { byte: Number(byte[1]) } : undefined;
}

export function writeLines(range: LineRange): string {
  if ('byte' in range) return `B${range.byte}`;
  return range.from === range.to ? `L${range.from}` : `L${range.from}-L${range.to}`;
}
