import { useEffect, useRef } from 'react';
import { PauseOrResume } from '../../parts/PauseOrResume.tsx';
import { useRunNow } from '../../parts/useRunNow.tsx';
import type { Chosen } from './entries.ts';

/** Runs the chosen action on a job, with a dialog if it needs input. */
export function Doing({ chosen, onDone }: { chosen: Chosen; onDone: () => void }) {
  return chosen.act === 'pause' ? <PauseOrResume job={chosen.job} onClose={onDone} /> : <Running key={chosen.job.name} chosen={chosen} />;
}

function Running({ chosen }: { chosen: Chosen }) {
  const { ask, run, dialog } = useRunNow();
  const done = useRef<Chosen | undefined>(undefined);
  useEffect(() => {
    // Once per choice, even if the effect runs again.
    if (done.current === chosen) return;
    done.current = chosen;
    if (chosen.act === 'runWith') ask(chosen.job);
    else run(chosen.job);
  }, [chosen, ask, run]);
  return dialog ?? null;
}
