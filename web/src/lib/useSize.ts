import { useLayoutEffect, useState, type RefObject } from 'react';

/** The current size of an element. */
export function useSize(target: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const node = target.current;
    if (!node) return;
    const measure = () => setSize((old) => (old.width === node.clientWidth && old.height === node.clientHeight ? old : { width: node.clientWidth, height: node.clientHeight }));
    measure();
    const seen = new ResizeObserver(measure);
    seen.observe(node);
    return () => seen.disconnect();
  }, [target]);
  return size;
}
