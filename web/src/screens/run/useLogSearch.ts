import { useEffect, useMemo, useRef, useState } from 'react';
import { compile, LogSearch, type Wanted } from '../../lib/logsearch.ts';
import type { Stream } from '../../lib/logline.ts';
import type { LogStore } from '../../lib/logstore.ts';
import type { Pattern } from '../../lib/regex/pattern.ts';
import { shows } from '../../lib/shownLines.ts';

/** Duration of a search step before the page can render. */
const slice = 6;

export interface Match {
  line: number;
  nth: number;
}

export interface Found {
  /** Why there is no search. */
  fault: 'empty' | 'invalid' | 'explosive' | undefined;
  pattern: Pattern | undefined;
  total: number;
  searching: boolean;
  current: Match | undefined;
  /** Number of the current match, from 1. */
  rank: number;
  /** Moves to the next or previous match; returns its line. */
  go: (back: boolean, reader: number) => number | undefined;
}

/** Searches loaded and new lines without blocking the page. */
export function useLogSearch(store: LogStore, version: number, only: Stream | undefined, wanted: Wanted): Found {
  const { text, regex, matchCase } = wanted;
  const compiled = useMemo(() => compile({ text, regex, matchCase }), [text, regex, matchCase]);
  const pattern = typeof compiled === 'string' ? undefined : compiled;
  const search = useMemo(() => pattern && new LogSearch(store, pattern, shows(only)), [store, pattern, only]);
  const [, redraw] = useState(0);
  const searching = useRef(false);
  const [current, setCurrent] = useState<Match | undefined>();

  useEffect(() => setCurrent(undefined), [search]);
  useEffect(() => {
    if (!search) return;
    let timer: ReturnType<typeof setTimeout>;
    let shown = 0;
    const step = () => {
      searching.current = !search.step(slice);
      if (searching.current) timer = setTimeout(step, 0);
      if (!searching.current || performance.now() - shown > 150) {
        shown = performance.now();
        redraw((n) => n + 1);
      }
    };
    timer = setTimeout(step, 0);
    return () => clearTimeout(timer);
  }, [search, version]);

  return {
    fault: typeof compiled === 'string' ? compiled : undefined,
    pattern,
    total: search?.total ?? 0,
    searching: searching.current,
    current,
    rank: search && current ? search.rank(current) : 0,
    go: (back, reader) => {
      const next = search?.next(current ?? { line: reader, nth: back ? 0 : -1 }, back);
      setCurrent(next);
      return next?.line;
    },
  };
}
