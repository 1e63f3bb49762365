import { useEffect, useRef, type RefObject } from 'react';
import { lengthOf, pan, zoom, type Span } from './span.ts';

interface Wants {
  span: Span;
  width: number;
  onSpan: (span: Span) => void;
  /** A short press or a click. */
  onTap: (x: number, y: number, touch: boolean) => void;
  onHover: (x: number, y: number) => void;
  onLeave: () => void;
  /** The wheel alone zooms; otherwise only with Ctrl, and without it the page scrolls as usual. */
  wheelZooms: boolean;
}

// Less movement than this counts as a press.
const dragged = 5;

/** Dragging pans; two fingers or the wheel zoom. Vertical movement is left to the browser, which scrolls. */
export function useGestures(target: RefObject<HTMLElement | null>, wants: Wants): void {
  const latest = useRef(wants);
  useEffect(() => {
    latest.current = wants;
  });
  useEffect(() => {
    const node = target.current;
    if (!node) return;
    const fingers = new Map<number, number>();
    let start: { span: Span; x: number; apart: number; moved: boolean } | undefined;
    const xOf = (event: PointerEvent | WheelEvent) => event.clientX - node.getBoundingClientRect().left;
    const yOf = (event: PointerEvent) => event.clientY - node.getBoundingClientRect().top;
    const middle = () => [...fingers.values()].reduce((a, b) => a + b, 0) / Math.max(1, fingers.size);
    const apart = () => (fingers.size < 2 ? 0 : Math.abs(([...fingers.values()][0] ?? 0) - ([...fingers.values()][1] ?? 0)));
    const begin = (moved: boolean) => {
      start = fingers.size === 0 ? undefined : { span: latest.current.span, x: middle(), apart: apart(), moved };
    };
    const down = (event: PointerEvent) => {
      if (event.pointerType === 'mouse' && event.button !== 0) return;
      fingers.set(event.pointerId, xOf(event));
      begin(fingers.size > 1);
    };
    const move = (event: PointerEvent) => {
      const { width, onSpan, onHover } = latest.current;
      if (!fingers.has(event.pointerId) || !start) {
        if (event.pointerType === 'mouse') onHover(xOf(event), yOf(event));
        return;
      }
      fingers.set(event.pointerId, xOf(event));
      const by = middle() - start.x;
      if (!start.moved && Math.abs(by) < dragged) return;
      if (!start.moved) node.setPointerCapture(event.pointerId);
      start.moved = true;
      latest.current.onLeave();
      const moved = pan(start.span, (-by / width) * lengthOf(start.span));
      onSpan(start.apart > 20 && apart() > 20 ? zoom(moved, start.apart / apart(), middle() / width) : moved);
    };
    const up = (event: PointerEvent) => {
      if (!fingers.delete(event.pointerId)) return;
      if (start && !start.moved && fingers.size === 0) latest.current.onTap(xOf(event), yOf(event), event.pointerType !== 'mouse');
      begin(true);
    };
    const cancel = (event: PointerEvent) => {
      fingers.delete(event.pointerId);
      begin(true);
    };
    const leave = (event: PointerEvent) => {
      if (event.pointerType === 'mouse' && fingers.size === 0) latest.current.onLeave();
    };
    const wheel = (event: WheelEvent) => {
      const { span, width, onSpan, wheelZooms } = latest.current;
      const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey || (wheelZooms && Math.abs(event.deltaY) > Math.abs(sideways))) {
        event.preventDefault();
        const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
        onSpan(zoom(span, Math.exp(Math.max(-60, Math.min(60, event.deltaY * lines)) * 0.006), xOf(event) / width));
      } else if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) {
        event.preventDefault();
        onSpan(pan(span, (sideways / width) * lengthOf(span)));
      }
    };
    node.addEventListener('pointerdown', down);
    node.addEventListener('pointermove', move);
    node.addEventListener('pointerup', up);
    node.addEventListener('pointercancel', cancel);
    node.addEventListener('pointerleave', leave);
    // React listeners are passive, so the page would scroll as well.
    node.addEventListener('wheel', wheel, { passive: false });
    return () => {
      node.removeEventListener('pointerdown', down);
      node.removeEventListener('pointermove', move);
      node.removeEventListener('pointerup', up);
      node.removeEventListener('pointercancel', cancel);
      node.removeEventListener('pointerleave', leave);
      node.removeEventListener('wheel', wheel);
    };
  }, [target]);
}
