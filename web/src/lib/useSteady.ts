import { useEffect, useRef, useState, type FocusEvent, type PointerEvent } from 'react';
import { steady, type SteadyRow } from './steady.ts';

// React propagates events of a dialog to the row that opened it, although it is elsewhere in the document.
const isWithin = (event: FocusEvent | PointerEvent) => event.currentTarget.contains(event.target as Node);

/**
 * Returns rows that do not move while the pointer or the focus is among them, the number of rows that wait for that, a
 * function that shows them nevertheless, and the props for the element around them.
 */
export function useSteady<Row>(fresh: readonly Row[], idOf: (row: Row) => string, also = false) {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const element = useRef<Element>(null);
  const held = pointed || focused || also;
  const shown = useRef<SteadyRow<Row>[]>([]);
  const [, draw] = useState(0);
  const rows = steady(shown.current, fresh, idOf, held);
  const known = new Set(rows.map(({ row }) => idOf(row)));
  const hidden = fresh.filter((row) => !known.has(idOf(row))).length;
  const show = () => {
    shown.current = [];
    draw((n) => n + 1);
  };
  useEffect(() => {
    shown.current = rows;
    // A removed or disabled element loses the focus without an event; a removed one no longer contains the pointer.
    const active = document.activeElement;
    if (focused && (!element.current?.contains(active) || active?.matches(':disabled'))) setFocused(false);
    if (pointed && !element.current?.isConnected) setPointed(false);
  });
  const around = {
    // A lifted finger leaves no pointer behind.
    onPointerEnter: (event: PointerEvent) => {
      if (event.pointerType !== 'mouse' || !isWithin(event)) return;
      element.current = event.currentTarget;
      setPointed(true);
    },
    onPointerLeave: () => setPointed(false),
    onFocus: (event: FocusEvent) => {
      if (!isWithin(event)) return;
      element.current = event.currentTarget;
      setFocused(true);
    },
    onBlur: (event: FocusEvent) => event.currentTarget.contains(event.relatedTarget) || setFocused(false),
  };
  return { rows, held, hidden, show, around };
}
