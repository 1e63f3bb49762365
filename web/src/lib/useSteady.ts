import { useEffect, useRef, useState, type FocusEvent, type PointerEvent } from 'react';
import { steady, type SteadyRow } from './steady.ts';

/** Rows that stand still while the pointer or the focus is among them. The second part goes onto the element around them. */
export function useSteady<Row>(fresh: readonly Row[], idOf: (row: Row) => string, also = false) {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const held = pointed || focused || also;
  const shown = useRef<SteadyRow<Row>[]>([]);
  const rows = steady(shown.current, fresh, idOf, held);
  useEffect(() => {
    shown.current = rows;
  });
  const around = {
    // A finger that has gone leaves no pointer behind.
    onPointerEnter: (event: PointerEvent) => event.pointerType === 'mouse' && setPointed(true),
    onPointerLeave: () => setPointed(false),
    onFocus: () => setFocused(true),
    onBlur: (event: FocusEvent) => event.currentTarget.contains(event.relatedTarget) || setFocused(false),
  };
  return { rows, held, around };
}
