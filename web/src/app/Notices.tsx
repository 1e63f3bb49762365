import { useNotifications } from '@mantine/notifications';
import { useEffect, useState, type ComponentType } from 'react';
import { whenIdle } from '../lib/idle.ts';
import { PlainNotices } from './PlainNotices.tsx';

const load = whenIdle(() => import('./NoticeList.tsx'));

/**
 * Passing notices. Their component is not needed for the first paint, and is usually loaded before the server can become
 * unreachable. If it cannot be loaded, they are shown as plain text.
 */
export function Notices() {
  const { notifications } = useNotifications();
  const [List, setList] = useState<ComponentType | undefined>();
  const [failed, setFailed] = useState(false);
  const asked = notifications.length > 0;
  useEffect(() => {
    if (!asked || List) return undefined;
    let gone = false;
    load().then(
      ({ NoticeList }) => !gone && setList(() => NoticeList),
      () => !gone && setFailed(true),
    );
    return () => {
      gone = true;
    };
  }, [asked, List]);
  if (List) return <List />;
  return failed ? <PlainNotices /> : null;
}
