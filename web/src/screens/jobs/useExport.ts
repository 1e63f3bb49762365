import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JobFilter } from '../../lib/jobFilter.ts';
import { sentences } from '../../lib/lists.ts';
import { saveAs } from '../../lib/saveAs.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { showFailure } from '../../parts/showFailure.ts';

/** Writes jobs to a file: all that match a filter, or some of them. */
export function useExport() {
  const { t, i18n } = useTranslation();
  const [progress, setProgress] = useState<number | undefined>();
  const running = useRef<AbortController | undefined>(undefined);
  const start = async (filter: JobFilter, only?: ReadonlySet<string>) => {
    // One at a time: the one whose progress is shown can be stopped.
    if (running.current) return;
    const controller = new AbortController();
    running.current = controller;
    setProgress(0);
    try {
      const { exportJobs } = await import('./exportJobs.ts');
      const { text, jobs, hidden, gone } = await exportJobs({ filter, only, signal: controller.signal, onProgress: (done, total) => setProgress(total === 0 ? 0 : done / total) });
      if (jobs > 0) saveAs('jobs.yaml', text, 'application/yaml');
      showNotice(t, sentences([jobs > 0 ? t('jobs.exported', { count: jobs }) : t('jobs.exportedNone'), hidden > 0 && t('jobs.exportHidden', { count: hidden }), gone > 0 && t('jobs.exportGone', { count: gone })], i18n.language));
    } catch (cause) {
      if (controller.signal.aborted) return;
      showFailure(t, i18n.language, cause as Error);
    } finally {
      running.current = undefined;
      setProgress(undefined);
    }
  };
  return { progress, start: (filter: JobFilter, only?: ReadonlySet<string>) => void start(filter, only), stop: () => running.current?.abort() };
}
