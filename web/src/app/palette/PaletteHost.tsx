import { lazy, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { whenIdle } from '../../lib/idle.ts';
import { LazyPart } from '../../parts/LazyPart.tsx';
import type { Chosen } from './entries.ts';

const load = whenIdle(() => import('./Palette.tsx'));
const Palette = lazy(async () => ({ default: (await load()).Palette }));
const Doing = lazy(async () => ({ default: (await import('./Doing.tsx')).Doing }));

/** The palette, loaded when it is first opened, and its dialogs. */
export function PaletteHost({ opened, onClose, onHelp }: { opened: boolean; onClose: () => void; onHelp: () => void }) {
  const [chosen, setChosen] = useState<Chosen | undefined>();
  useEffect(() => {
    // The modifier key announces the shortcut: preload.
    const reach = (event: KeyboardEvent) => {
      if (event.key === 'Control' || event.key === 'Meta') void load().catch(() => undefined);
    };
    window.addEventListener('keydown', reach);
    return () => window.removeEventListener('keydown', reach);
  }, []);
  const { typed, arrived } = useTypedAhead(opened, onClose);
  return (
    <>
      {opened && <LazyPart onClose={onClose}><Palette typed={typed} onArrived={arrived} onClose={onClose} onHelp={onHelp} onChoose={(act, job) => setChosen({ act, job })} /></LazyPart>}
      {chosen && <LazyPart onClose={() => setChosen(undefined)}><Doing chosen={chosen} onDone={() => setChosen(undefined)} /></LazyPart>}
    </>
  );
}

/**
 * Captures typed text from the moment the palette is requested until it is loaded, since the text is meant for the
 * palette and not for the page.
 */
function useTypedAhead(opened: boolean, onClose: () => void): { typed: () => string; arrived: () => void } {
  const ahead = useRef('');
  const waiting = useRef(false);
  const close = useRef(onClose);
  close.current = onClose;
  // Must run before the palette's own effects, which may run at once.
  useLayoutEffect(() => {
    if (!opened) return;
    waiting.current = true;
    const take = (event: KeyboardEvent) => {
      if (!waiting.current || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (event.key === 'Escape') close.current();
      else if (event.key === 'Backspace') ahead.current = ahead.current.slice(0, -1);
      else if (event.key.length === 1) ahead.current += event.key;
    };
    window.addEventListener('keydown', take, true);
    return () => {
      waiting.current = false;
      ahead.current = '';
      window.removeEventListener('keydown', take, true);
    };
  }, [opened]);
  const [given] = useState(() => ({
    typed: () => ahead.current,
    arrived: () => {
      waiting.current = false;
    },
  }));
  return given;
}
