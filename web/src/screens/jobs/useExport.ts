import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JobFilter } from '../../lib/jobFilter.ts';
import { sentences } from '../../lib/lists.ts';
import { saveAs } from '../../lib/saveAs.ts';
import { say } from '../../parts/say.ts';
import { sayFailed } from '../../parts/sayFailed.ts';

/** Writes jobs to a file: all that a filter finds, or only some of these. */
export function useExport() {
  const { t, i18n } = useTranslation();
  const [progress, setProgress] = useState<number | undefined>();
  const abort = useRef<AbortController | undefined>(undefined);
  const start = async (filter: JobFilter, only?: ReadonlySet<string>) => {
    abort.current = new AbortController();
    setProgress(0);
    try {
      const { exportJobs } = await import('./exportJobs.ts');
      const { text, jobs, hidden } = await exportJobs({ filter, only, signal: abort.current.signal, onProgress: (done, total) => setProgress(total === 0 ? 0 : done / total) });
      if (jobs > 0) saveAs('jobs.yaml', text, 'application/yaml');
      say(t, sentences([jobs > 0 ? t('jobs.exported', { count: jobs }) : t('jobs.exportedNone'), hidden > 0 && t('jobs.exportHidden', { count: hidden })], i18n.language));
    } catch (cause) {
      if (abort.current.signal.aborted) return;
      sayFailed(t, i18n.language, cause as Error);
    } finally {
      setProgress(undefined);
    }
  };
  return { progress, start: (filter: JobFilter, only?: ReadonlySet<string>) => void start(filter, only), stop: () => abort.current?.abort() };
}
