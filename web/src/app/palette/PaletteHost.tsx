import { lazy, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { whenIdle } from '../../lib/idle.ts';
import type { Chosen } from './entries.ts';

const load = whenIdle(() => import('./Palette.tsx'));
const Palette = lazy(async () => ({ default: (await load()).Palette }));
const Doing = lazy(async () => ({ default: (await import('./Doing.tsx')).Doing }));

/** The palette, loaded when it is first opened, and the dialogs that it opens. */
export function PaletteHost({ opened, onClose, onHelp }: { opened: boolean; onClose: () => void; onHelp: () => void }) {
  const [chosen, setChosen] = useState<Chosen | undefined>();
  useEffect(() => {
    // The key that is held down first announces it.
    const reach = (event: KeyboardEvent) => {
      if (event.key === 'Control' || event.key === 'Meta') void load().catch(() => undefined);
    };
    window.addEventListener('keydown', reach);
    return () => window.removeEventListener('keydown', reach);
  }, []);
  const { typed, arrived } = useTypedAhead(opened, onClose);
  return (
    <Suspense fallback={null}>
      {opened && <Palette typed={typed} onArrived={arrived} onClose={onClose} onHelp={onHelp} onChoose={(act, job) => setChosen({ act, job })} />}
      {chosen && <Doing chosen={chosen} onDone={() => setChosen(undefined)} />}
    </Suspense>
  );
}

/** Keeps what is typed from the moment that one reaches for the palette until it is there: it is for the palette, and not for the page. */
function useTypedAhead(opened: boolean, onClose: () => void): { typed: () => string; arrived: () => void } {
  const ahead = useRef('');
  const waiting = useRef(false);
  const close = useRef(onClose);
  close.current = onClose;
  // Before what a palette that was there at once does as its first.
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
