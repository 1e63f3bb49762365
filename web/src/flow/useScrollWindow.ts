import { useEffect, useState, type RefObject } from 'react';
import { windowOf, type RowWindow } from '../lib/rowWindow.ts';

const overscan = 8;

/** The rendered rows of a long list that scrolls in a frame of its own. */
export function useScrollWindow(frame: RefObject<HTMLElement | null>, count: number, rowHeight: number): RowWindow {
  const [rows, setRows] = useState<RowWindow>({ first: 0, end: 40 });
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const follow = () => {
      const next = windowOf(element.scrollTop, element.scrollTop + element.clientHeight, rowHeight, Number.MAX_SAFE_INTEGER, overscan);
      setRows((now) => (now.first === next.first && now.end === next.end ? now : next));
    };
    follow();
    const seen = new ResizeObserver(follow);
    seen.observe(element);
    element.addEventListener('scroll', follow, { passive: true });
    return () => {
      seen.disconnect();
      element.removeEventListener('scroll', follow);
    };
  }, [frame, rowHeight]);
  return { first: Math.min(rows.first, count), end: Math.min(rows.end, count) };
}
