import { useEffect, useRef, type RefObject } from 'react';
import type { Stream } from '../../lib/logline.ts';
import { textBetween, type Place } from '../../lib/logtext.ts';
import { shows } from '../../lib/shownLines.ts';
import type { Rows } from './useRows.ts';

interface Selected {
  /** Rows at the ends of a selection: they stay mounted while the user scrolls. */
  held: () => readonly number[];
  /** The log has a selection. */
  some: () => boolean;
  /** Selects everything, including rows that are not rendered. */
  all: () => void;
  /** Extends “select all” to newly rendered rows. */
  renew: () => void;
}

/**
 * Selects and copies in a log of which only some rows exist: the copied text comes from the store, not from the page.
 */
export function useSelection(shown: RefObject<HTMLElement | null>, rows: Rows, only: Stream | undefined, onSelect: () => void): Selected {
  const ends = useRef<readonly number[]>([]);
  const some = useRef(false);
  const all = useRef(false);
  const latest = useRef({ rows, only, onSelect });
  latest.current = { rows, only, onSelect };

  useEffect(() => {
    const element = shown.current;
    if (!element) return;
    /** Returns the log position of a DOM position; undefined outside the log. */
    const placeOf = (node: Node, offset: number): Place | undefined => {
      const beside = node === element ? (element.children[offset] ?? element.lastElementChild) : undefined;
      const row = beside ?? (node instanceof Element ? node : node.parentElement)?.closest('[data-row]');
      if (!(row instanceof HTMLElement) || !element.contains(row)) return undefined;
      const name = latest.current.rows.shown.name(Number(row.dataset.row));
      const text = row.querySelector('[data-text]');
      if (!text) return { name, at: 0 };
      const range = document.createRange();
      range.selectNodeContents(text);
      if (text.contains(node)) range.setEnd(node, offset);
      else if (range.comparePoint(node, offset) < 0) return { name, at: 0 };
      return { name, at: range.toString().length };
    };
    const onChange = () => {
      const selection = document.getSelection();
      const { anchorNode, focusNode } = selection ?? {};
      all.current = all.current && anchorNode === element && focusNode === element;
      some.current = all.current;
      ends.current = [];
      if (!selection || !anchorNode || !focusNode || all.current) return;
      ends.current = [placeOf(anchorNode, selection.anchorOffset), placeOf(focusNode, selection.focusOffset)].flatMap((place) => (place ? [place.name] : []));
      some.current = !selection.isCollapsed && ends.current.length > 0;
      if (some.current) latest.current.onSelect();
    };
    const onCopy = (event: ClipboardEvent) => {
      const range = document.getSelection()?.rangeCount ? document.getSelection()?.getRangeAt(0) : undefined;
      if (!range || range.collapsed || !event.clipboardData) return;
      const from = placeOf(range.startContainer, range.startOffset);
      const to = placeOf(range.endContainer, range.endOffset);
      if (!all.current && !from && !to) return;
      const { store } = latest.current.rows;
      const text = textBetween(store, (!all.current && from) || { name: store.first, at: 0 }, (!all.current && to) || { name: store.end, at: 0 }, shows(latest.current.only));
      event.clipboardData.setData('text/plain', text);
      event.preventDefault();
    };
    document.addEventListener('selectionchange', onChange);
    document.addEventListener('copy', onCopy);
    return () => {
      document.removeEventListener('selectionchange', onChange);
      document.removeEventListener('copy', onCopy);
    };
  }, [shown]);

  const select = () => {
    const element = shown.current;
    if (element) document.getSelection()?.selectAllChildren(element);
  };
  return {
    held: () => ends.current.map((name) => rows.shown.row(name)),
    some: () => some.current,
    all: () => {
      all.current = true;
      some.current = true;
      select();
    },
    renew: () => {
      if (all.current) select();
    },
  };
}
