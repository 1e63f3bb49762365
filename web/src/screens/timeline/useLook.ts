import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { TimelineSearch } from '../../lib/searchParams.ts';
import { isoOf, presets, presetSpan, spanOfText, type Preset, type Span } from '../../parts/gantt/span.ts';

/** Removes unset parameters. */
export function cleaned(search: TimelineSearch): TimelineSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined && value !== ''));
}

// While moving, the address is not updated: browsers limit the rate of changes.
const settles = 250;

/** The visible span: stored in the address, and local while moving. */
export function useLook(now: number) {
  const search = useSearch({ from: '/timeline' });
  const navigate = useNavigate();
  const [moving, setMoving] = useState<Span | undefined>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = useCallback((next: TimelineSearch) => void navigate({ to: '/timeline', search: cleaned(next), replace: true }), [navigate]);
  const fixed = spanOfText(search.from, search.to);
  const preset: Preset | undefined = fixed ? undefined : ((Object.keys(presets) as Preset[]).find((p) => p === search.span) ?? '6h');
  const settled = fixed ?? presetSpan(preset ?? '6h', now);
  const latest = useRef(search);
  latest.current = search;
  const move = useCallback((span: Span) => {
    setMoving(span);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      show({ ...latest.current, span: undefined, from: isoOf(span.from), to: isoOf(span.to) });
      setMoving(undefined);
    }, settles);
  }, [show]);
  const choose = useCallback((next: Preset) => {
    clearTimeout(timer.current);
    setMoving(undefined);
    show({ ...latest.current, span: next === '6h' ? undefined : next, from: undefined, to: undefined });
  }, [show]);
  return { search, show, span: moving ?? settled, settled, preset: moving ? undefined : preset, move, choose };
}
