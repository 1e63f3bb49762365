import { useNotifications } from '@mantine/notifications';
import { lazy, Suspense, useState } from 'react';
import { whenIdle } from '../lib/idle.ts';

const load = whenIdle(() => import('./NoticeList.tsx'));
const NoticeList = lazy(async () => ({ default: (await load()).NoticeList }));

/**
 * Passing notices. Their component is not needed for the first paint, and is loaded before the server can become
 * unreachable.
 */
export function Notices() {
  const { notifications } = useNotifications();
  const [said, setSaid] = useState(false);
  if (!said && notifications.length > 0) setSaid(true);
  return <Suspense fallback={null}>{said && <NoticeList />}</Suspense>;
}
