/** The fires of one side of a comparison: those to show, which of them the other side lacks, and how many follow in the span. */
export interface SideOfFires {
  fires: { at: string; differs: boolean }[];
  more: number;
}

/** How many fires each side shows at least, if it has them, and at most. */
export const leastShown = 4;
const mostShown = 12;

/**
 * Compares the next fires of two schedules over one span of time: that of the first four of the side that takes longer
 * for them. Each list begins now and is complete up to its last fire; if it is shorter than asked, it is complete for
 * ever. Only what the other side certainly lacks differs.
 */
export function compareFires(before: readonly string[], after: readonly string[], asked: number): { before: SideOfFires; after: SideOfFires } {
  const times = (fires: readonly string[]) => fires.map((fire) => Date.parse(fire));
  const [a, b] = [times(before), times(after)];
  const known = Math.min(knownUntil(a, asked), knownUntil(b, asked));
  const end = Math.max(a[Math.min(leastShown, a.length) - 1] ?? -Infinity, b[Math.min(leastShown, b.length) - 1] ?? -Infinity);
  const side = (fires: readonly string[], own: number[], others: number[]): SideOfFires => {
    const elsewhere = new Set(others);
    const within = own.filter((at) => at <= end).length;
    const shown = Math.min(within, mostShown);
    return { fires: fires.slice(0, shown).map((at, i) => ({ at, differs: own[i]! <= known && !elsewhere.has(own[i]!) })), more: within - shown };
  };
  return { before: side(before, a, b), after: side(after, b, a) };
}

/** Up to when all fires are in a list of at most so many. */
function knownUntil(fires: number[], asked: number): number {
  return fires.length < asked ? Infinity : fires[fires.length - 1]!;
}
