import type { Delivery } from '../../api/types.ts';

const isDue = ({ status, nextAt }: Delivery, now: number) => status === 'waiting' && nextAt !== undefined && Date.parse(nextAt) <= now;

/**
 * Returns the ids of deliveries that are due, but wait: a channel has one try at a time, in the order of their creation, and
 * after a failure it pauses with all of them.
 */
export function queuedBehind(deliveries: readonly Delivery[], now: number): Set<string> {
  const first = new Map<string, Delivery>();
  const retried = new Set<string>();
  for (const delivery of deliveries) {
    if (delivery.status === 'waiting' && delivery.attempts > 0) retried.add(delivery.channel);
    const before = first.get(delivery.channel);
    if (isDue(delivery, now) && (before === undefined || delivery.id < before.id)) first.set(delivery.channel, delivery);
  }
  return new Set(deliveries.filter((one) => isDue(one, now) && one.attempts === 0 && (retried.has(one.channel) || first.get(one.channel) !== one)).map(({ id }) => id));
}
