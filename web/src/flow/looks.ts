import type { IconName } from '../parts/icons.tsx';
import { statusLooks, type StatusTone } from '../parts/statusLooks.ts';
import type { NodeStatus } from './model/state.ts';

/** Sign and colour of each status of a node. */
export const nodeLooks: Record<NodeStatus, { icon: IconName; tone: StatusTone }> = { ...statusLooks, pending: { icon: 'dots', tone: 'idle' } };
