import { expect, it } from 'vitest';
import type { Job } from '../api/types.ts';
import { zoneOf, zonesOf } from './scheduleText.ts';

const job = (own: Partial<Job>, inherited: Job['meta']['inherited']) => ({ name: 'a', ...own, meta: { inherited } }) as Job;

it('an inherited time zone is that of the job', () => {
  expect(zoneOf(job({ cronExpr: '@daily' }, [{ from: 'shop', timezone: 'Asia/Tokyo' }]))).toBe('Asia/Tokyo');
  expect(zoneOf(job({ cronExpr: '@daily', timezone: 'UTC' }, [{ from: 'shop', timeout: '1h' }]))).toBe('UTC');
  const several = job({ schedules: [{ cronExpr: '@daily' }, { cronExpr: '@hourly', timezone: 'UTC' }] }, [{ from: '*', timezone: 'Asia/Tokyo', schedules: [0] }]);
  expect([zoneOf(several), zonesOf(several)]).toEqual(['Asia/Tokyo', ['Asia/Tokyo', 'UTC']]);
});
