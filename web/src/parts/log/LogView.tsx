import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type Ref, type TouchEvent, type WheelEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { formatBytes } from '../../lib/bytes.ts';
import type { Stream } from '../../lib/logline.ts';
import type { LogStore } from '../../lib/logstore.ts';
import type { Pattern } from '../../lib/regex/pattern.ts';
import { LogRow, type Words } from './LogRow.tsx';
import classes from './LogView.module.css';
import { rowHeight, useRedraw, useRows } from './useRows.ts';
import { useSelection } from './useSelection.ts';

/** Methods for the page. */
export interface LogHandle {
  /** Scrolls to a line. */
  show: (name: number) => void;
  top: () => void;
  end: () => void;
  focus: () => void;
  /** The first visible line. */
  first: () => number;
}

interface Props {
  ref: Ref<LogHandle>;
  store: LogStore;
  /** Changes with the store. */
  version: number;
  only: Stream | undefined;
  wrap: boolean;
  times: boolean;
  follow: boolean;
  /** Lines have numbers: all from the first one on are loaded. */
  numbers: boolean;
  /** The lines in the address: the router must not restore the previous scroll position there. */
  hash: string;
  /** Text shown instead of lines. */
  none: string;
  pattern: Pattern | undefined;
  current: { line: number; nth: number } | undefined;
  /** Ids of the first and last highlighted line. */
  picked: [number, number] | undefined;
  onPick: (name: number, upTo: boolean) => void;
  onFollow: (follow: boolean) => void;
}

/** Rendered margin beyond both edges, in pixels: not in rows, since a long line may be as high as the window. */
const overscan = 240;
const nearEnd = 24;

/** A long text of which only the visible lines exist. Each line is parsed when it is shown, into text nodes. */
export function LogView({ ref, store, version, only, wrap, times, follow, numbers, hash, none, pattern, current, picked, onPick, onFollow }: Props) {
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const words: Words = useMemo(() => ({ over: t('run.over'), hole: (bytes) => t('run.hole', { size: formatBytes(bytes) }) }), [t]);
  // A row renders only if its props have changed.
  const latestPick = useRef(onPick);
  latestPick.current = onPick;
  const pick = useCallback((name: number, upTo: boolean) => latestPick.current(name, upTo), []);
  const shown = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ height: 400, columns: 80 });
  const redraw = useRedraw();
  const rows = useRows(store, only, wrap ? Math.max(10, room.columns - (times ? 13 : 0)) : 0);
  // The first visible line and its scroll offset: the reader's position, whatever changes around it.
  const anchor = useRef<{ name: number; past: number } | undefined>(undefined);
  const last = useRef(0);
  // Scrolling must not disturb a text selection.
  const selection = useSelection(shown, rows, only, () => follow && onFollow(false));

  const scrollTo = (place: number) => {
    const element = frame.current;
    if (!element) return;
    element.scrollTop = rows.scroll(Math.max(0, place), room.height);
    last.current = element.scrollTop;
    remember();
    redraw();
  };
  const remember = () => {
    const place = rows.place(frame.current?.scrollTop ?? 0, room.height);
    const row = rows.at(place);
    anchor.current = { name: rows.shown.name(row), past: place - rows.top(row) };
  };

  useImperativeHandle(ref, () => ({
    show: (name) => {
      const row = rows.shown.row(name);
      scrollTo(rows.top(row) - Math.floor(room.height / 3));
    },
    top: () => scrollTo(0),
    end: () => scrollTo(rows.total),
    focus: () => frame.current?.focus({ preventScroll: true }),
    first: () => anchor.current?.name ?? store.first,
  }));

  useEffect(() => {
    const element = frame.current;
    const probe = shown.current;
    if (!element || !probe) return;
    const measure = () => {
      const text = probe.querySelector<HTMLElement>('[data-text]');
      const letter = document.createElement('span');
      letter.textContent = '0'.repeat(100);
      (text ?? probe).append(letter);
      const wide = letter.getBoundingClientRect().width / 100 || 8;
      letter.remove();
      const columns = Math.floor((text?.clientWidth ?? element.clientWidth - 80) / wide);
      setRoom((before) => (before.height === element.clientHeight && before.columns === columns ? before : { height: element.clientHeight, columns }));
    };
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, [wrap, store]);

  const laid = useRef(rows);
  // Heights measured, or lines inserted, above the reader do not move the visible lines.
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    // The user has scrolled, and the browser has not reported it yet. At the end it may also have been clamped.
    const scrolled = laid.current === rows && element.scrollTop !== last.current && element.scrollTop < element.scrollHeight - element.clientHeight - 1;
    laid.current = rows;
    if (!follow && scrolled) {
      last.current = element.scrollTop;
      remember();
    }
    let differs = false;
    for (const child of shown.current?.children ?? []) {
      const row = Number((child as HTMLElement).dataset.row);
      if (wrap && !child.hasAttribute('data-held') && rows.measured(row, child.getBoundingClientRect().height) !== 0) differs = true;
    }
    if (follow) {
      element.scrollTop = element.scrollHeight;
      last.current = element.scrollTop;
    } else if (anchor.current) {
      const place = rows.top(rows.shown.row(anchor.current.name)) + anchor.current.past;
      const want = rows.scroll(place, room.height);
      if (Math.abs(want - element.scrollTop) >= 1) {
        element.scrollTop = want;
        last.current = element.scrollTop;
        differs = true;
      }
    }
    if (differs || follow) remember();
    if (differs) redraw();
  }, [version, follow, wrap, only, rows, room]);

  useLayoutEffect(selection.renew);

  const onScroll = () => {
    const element = frame.current;
    if (!element) return;
    const moved = element.scrollTop - last.current;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd;
    last.current = element.scrollTop;
    remember();
    if (follow && moved < -2 && !atEnd) onFollow(false);
    // Follow only if the user scrolled to the end, not if the view was already there.
    else if (!follow && moved > 0 && atEnd && !selection.some()) onFollow(true);
    redraw();
  };
  // Otherwise each new line would undo a slow scroll upwards before it is recognised.
  const leaveEnd = () => {
    const element = frame.current;
    if (follow && element && element.scrollHeight > element.clientHeight) onFollow(false);
  };
  const finger = useRef(0);
  const onWheel = (event: WheelEvent) => event.deltaY < 0 && !event.ctrlKey && leaveEnd();
  const onTouchStart = (event: TouchEvent) => (finger.current = event.touches[0]?.clientY ?? 0);
  const onTouchMove = (event: TouchEvent) => (event.touches[0]?.clientY ?? 0) > finger.current + 4 && leaveEnd();
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'a') {
      event.preventDefault();
      leaveEnd();
      return selection.all();
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const targets: Record<string, number> = { g: 0, Home: 0, G: rows.total, End: rows.total };
    const end = rows.total - room.height;
    // The browser would scroll some time after the key, and end a following that has begun again meanwhile.
    if (follow && end > 0) Object.assign(targets, { ArrowUp: end - 2 * rowHeight, PageUp: end - room.height + rowHeight });
    const target = targets[event.key];
    if (target === undefined) return;
    // Outside the log, “g” starts a navigation shortcut.
    event.preventDefault();
    event.nativeEvent.stopImmediatePropagation();
    event.stopPropagation();
    onFollow(target > 0 && target === rows.total);
    scrollTo(target);
  };

  const scroll = frame.current?.scrollTop ?? 0;
  const place = follow ? Math.max(0, rows.total - room.height) : rows.place(scroll, room.height);
  const from = rows.at(Math.max(0, place - overscan));
  const to = Math.min(rows.shown.count, rows.at(place + room.height + overscan) + 1);
  const base = follow ? Math.max(0, rows.pixels - room.height) : scroll;
  const held = selection.held().filter((row) => row < from || row >= to);
  const drawn = [...new Set([...Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i), ...held])].sort((a, b) => a - b);
  return (
    <div
      ref={frame} className={classes.frame} data-scroll-restoration-id={`log#${hash}`} data-wrap={wrap} data-times={times} data-rows={rows.shown.count} tabIndex={0} style={{ '--digits': String(store.number(store.end - 1)).length } as object} role="log" aria-label={t('run.log')} aria-live="off"
      onScroll={onScroll} onKeyDown={onKeyDown} onWheel={onWheel} onTouchStart={onTouchStart} onTouchMove={onTouchMove}
    >
      {rows.shown.count === 0 && <p className={classes.none}>{none}</p>}
      <div className={classes.canvas} style={{ height: Math.max(rows.pixels, rowHeight) }}>
        <div ref={shown} className={classes.shown} style={{ transform: `translateY(${base + rows.top(from) - place}px)` }}>
          {drawn.map((row) => {
            const name = rows.shown.name(row);
            const line = store.line(name);
            return (
              line && (
                <LogRow
                  key={name} row={row} name={name} text={line.text} marks={line.marks} at={times ? line.at : NaN} offset={line.offset} number={numbers ? store.number(name) : 0}
                  style={store.styleAt(name)} pattern={pattern} current={current?.line === name ? current.nth : -1}
                  picked={picked !== undefined && name >= picked[0] && name <= picked[1]} held={held.includes(row)} onPick={pick} words={words}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}
