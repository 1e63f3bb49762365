import type { Lock } from '../../api/types.ts';
import type { IconName } from '../../parts/icons.tsx';
import type { StatusTone } from '../../parts/statusLooks.ts';

/** Sign and colour of each state. */
export const stateLooks: Record<Lock['state'], { icon: IconName; tone: StatusTone }> = {
  held: { icon: 'lock', tone: 'live' },
  grace: { icon: 'clock', tone: 'warn' },
  free: { icon: 'check', tone: 'idle' },
};
