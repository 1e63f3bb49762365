import { expect, it } from 'vitest';
import { compareFires } from './compareFires.ts';

const start = Date.parse('2026-11-30T12:00:00Z');
const minute = 60_000;
const at = (n: number) => new Date(start + n * minute).toISOString();
/** The fires of a schedule, as many as asked for. */
const list = (has: (n: number) => boolean, asked: number, until = 1e6) => {
  const fires: string[] = [];
  for (let n = 1; n < until && fires.length < asked; n++) if (has(n)) fires.push(at(n));
  return fires;
};
const marked = (side: { fires: { at: string; differs: boolean }[] }) => side.fires.filter((fire) => fire.differs).map((fire) => (Date.parse(fire.at) - start) / minute);

it('marks nothing that stays: each five minutes becomes each two', () => {
  const { before, after } = compareFires(list((n) => n % 5 === 0, 100), list((n) => n % 2 === 0, 100), 100);
  expect(before.fires.map((fire) => fire.at)).toEqual([at(5), at(10), at(15), at(20)]);
  expect(marked(before)).toEqual([5, 15]);
  expect(after.fires).toHaveLength(10);
  expect(marked(after)).toEqual([2, 4, 6, 8, 12, 14, 16, 18]);
});

it('a further hour of the day takes nothing away', () => {
  const day = 24 * 60;
  const { before, after } = compareFires(list((n) => n % day === 180, 100), list((n) => n % day === 180 || n % day === 360, 100), 100);
  expect(marked(before)).toEqual([]);
  expect(marked(after)).toEqual([360, day + 360, 2 * day + 360]);
});

it('a list that ends too early proves nothing', () => {
  const { after } = compareFires(list(() => true, 100), list((n) => n % 1440 === 0, 100), 100);
  expect(marked(after)).toEqual([]);
  expect(compareFires([], list((n) => n % 7 === 0, 100), 100).after.fires.every((fire) => fire.differs)).toBe(true);
});

it('shows a few of many', () => {
  const { after } = compareFires(list((n) => n % 60 === 0, 100), list(() => true, 100), 100);
  expect(after.fires).toHaveLength(12);
  expect(after.more).toBe(100 - 12);
});

// Marked is what one set of fires has and the other lacks, and nothing else, within the span that both show.
it('agrees with sets of fires', () => {
  let seed = 1;
  const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 2000; round++) {
    const [a, b] = [0, 1].map(() => new Set(Array.from({ length: random(40) }, () => 1 + random(60))));
    const asked = 3 + random(12);
    const lists = [a!, b!].map((set) => list((n) => set.has(n), asked, 100)) as [string[], string[]];
    const { before, after } = compareFires(lists[0], lists[1], asked);
    for (const [side, own, other] of [[before, a!, b!], [after, b!, a!]] as const) {
      for (const fire of side.fires) {
        const n = (Date.parse(fire.at) - start) / minute;
        expect(own.has(n)).toBe(true);
        if (fire.differs) expect(other.has(n)).toBe(false);
      }
      // All fires of a side within the span of the shown ones are shown, and what is known to differ is marked.
      const last = side.fires.at(-1);
      const known = Math.min(...lists.map((l) => (l.length < asked ? Infinity : Date.parse(l.at(-1)!))));
      const want = [...own].sort((x, y) => x - y).filter((n) => last && n <= (Date.parse(last.at) - start) / minute);
      expect(side.fires.map((fire) => (Date.parse(fire.at) - start) / minute)).toEqual(want);
      expect(marked(side)).toEqual(want.filter((n) => !other.has(n) && start + n * minute <= known));
    }
  }
});
