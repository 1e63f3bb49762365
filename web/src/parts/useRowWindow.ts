import { useCallback, useEffect, useLayoutEffect, useState, type RefObject } from 'react';
import { windowOf, type RowWindow } from '../lib/rowWindow.ts';

const same = (a: RowWindow, b: RowWindow) => a.first === b.first && a.end === b.end;
const overscan = 8;

/** The rendered rows of a long list that scrolls with the page. The list has the height of all of its rows. */
export function useRowWindow(list: RefObject<HTMLElement | null>, count: number, rowHeight: number): RowWindow {
  const look = useCallback(() => {
    const top = -(list.current?.getBoundingClientRect().top ?? 0);
    return windowOf(top, top + window.innerHeight, rowHeight, Number.MAX_SAFE_INTEGER, overscan);
  }, [list, rowHeight]);
  const [rows, setRows] = useState<RowWindow>(() => windowOf(0, window.innerHeight, rowHeight, Number.MAX_SAFE_INTEGER, overscan));
  const follow = useCallback(() => {
    const next = look();
    setRows((now) => (same(now, next) ? now : next));
  }, [look]);
  useLayoutEffect(follow, [follow, count]);
  useEffect(() => {
    window.addEventListener('scroll', follow, { passive: true });
    window.addEventListener('resize', follow);
    return () => {
      window.removeEventListener('scroll', follow);
      window.removeEventListener('resize', follow);
    };
  }, [follow]);
  // The window extends beyond the list's end, so that a row which moves there in a longer list stays mounted and keeps
  // the focus.
  return { first: Math.min(rows.first, count), end: Math.min(rows.end, count) };
}
