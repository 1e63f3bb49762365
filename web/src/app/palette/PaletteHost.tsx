import { lazy, Suspense, useEffect, useState } from 'react';
import type { Job } from '../../api/types.ts';
import { whenIdle } from '../../lib/idle.ts';
import type { Acts } from './Palette.tsx';

const load = whenIdle(() => import('./Palette.tsx'));
const Palette = lazy(async () => ({ default: (await load()).Palette }));
const Doing = lazy(async () => ({ default: (await import('./Doing.tsx')).Doing }));

/** What was chosen for a job, and goes on after the palette is closed. */
export interface Chosen {
  act: Acts;
  job: Job;
}

/** The palette, fetched when somebody reaches for it, and the dialogs that it leads to. */
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
  return (
    <Suspense fallback={null}>
      {opened && <Palette onClose={onClose} onHelp={onHelp} onChoose={(act, job) => setChosen({ act, job })} />}
      {chosen && <Doing chosen={chosen} onDone={() => setChosen(undefined)} />}
    </Suspense>
  );
}
