import { useNotifications } from '@mantine/notifications';
import { lazy, Suspense, useState } from 'react';
import { whenIdle } from '../lib/idle.ts';

const load = whenIdle(() => import('./NoticeList.tsx'));
const NoticeList = lazy(async () => ({ default: (await load()).NoticeList }));

/** What the console says in passing. What shows it is not needed at first, and fetched before the server can be away. */
export function Notices() {
  const { notifications } = useNotifications();
  const [said, setSaid] = useState(false);
  if (!said && notifications.length > 0) setSaid(true);
  return <Suspense fallback={null}>{said && <NoticeList />}</Suspense>;
}
