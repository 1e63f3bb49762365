import { expect, it } from 'vitest';
import type { Fire, FireStatus } from '../../api/types.ts';
import { laid } from './layout.ts';

const fire = (day: number, status: FireStatus = 'succeeded'): Fire => ({ id: `${day} ${status}`, job: 'a', jobUid: 'a', plannedAt: `2026-01-0${day}T00:00:00Z`, cause: 'cron', status, attempts: [] });
const told = (fires: Fire[], today?: string) =>
  laid(fires, (row) => row, (at) => at.slice(0, 10), today === undefined ? undefined : { today }).map(({ day, rows }) => [day.slice(-1), ...rows.map((row) => (row.kind === 'now' ? 'now' : row.row.status))]);

it('splits fires by day', () => expect(told([fire(2), fire(2, 'missed'), fire(1)])).toEqual([['2', 'succeeded', 'missed'], ['1', 'succeeded']]));
it('places the line below planned fires', () => expect(told([fire(3, 'planned'), fire(2, 'planned'), fire(2)], '2026-01-02')).toEqual([['3', 'planned'], ['2', 'planned', 'now', 'succeeded']]));
it('places it on its own day', () => expect(told([fire(3, 'planned'), fire(1)], '2026-01-02')).toEqual([['3', 'planned'], ['2', 'now'], ['1', 'succeeded']]));
it('places it at the top without planned fires, and at the bottom with only planned ones', () => {
  expect(told([fire(1)], '2026-01-01')).toEqual([['1', 'now', 'succeeded']]);
  expect(told([fire(3, 'planned')], '2026-01-03')).toEqual([['3', 'planned', 'now']]);
  expect(told([], '2026-01-03')).toEqual([['3', 'now']]);
});
