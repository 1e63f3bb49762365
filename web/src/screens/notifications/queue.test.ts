import { expect, it } from 'vitest';
import type { Delivery } from '../../api/types.ts';
import { queuedBehind } from './queue.ts';

const now = Date.parse('2026-03-01T10:00:00Z');
const delivery = (id: string, channel: string, more: Partial<Delivery> = {}) => ({ id, channel, status: 'waiting', attempts: 0, nextAt: '2026-03-01T09:59:00Z', ...more }) as Delivery;
const behind = (...deliveries: Delivery[]) => [...queuedBehind(deliveries, now)].sort();

it('finds the deliveries behind a retry of the same channel', () => {
  expect(behind(delivery('3', 'pager'), delivery('2', 'pager'), delivery('1', 'pager', { attempts: 2, nextAt: '2026-03-01T10:05:00Z' }), delivery('4', 'mail'))).toEqual(['2', '3']);
});

it('leaves out the first of those that are due, as it is tried now', () => expect(behind(delivery('3', 'pager'), delivery('1', 'pager'), delivery('2', 'pager'))).toEqual(['2', '3']));

it('leaves out deliveries that are not due yet or have ended', () => {
  expect(behind(delivery('1', 'pager', { attempts: 1 }), delivery('2', 'pager', { nextAt: '2026-03-01T10:00:10Z' }), delivery('3', 'pager', { status: 'sent' }))).toEqual([]);
});
