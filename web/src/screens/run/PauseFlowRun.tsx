import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { usePauseFlowRun } from '../../api/flowRuns.ts';
import type { Run } from '../../api/types.ts';
import { Icon } from '../../parts/icons.tsx';
import { showFailure } from '../../parts/showFailure.ts';

/** Reports whether a flow run that has not ended is paused. */
export const isPaused = (run: Run) => run.reason?.code === 'flow_paused';

/** Pauses a flow run, or resumes it. */
export function PauseFlowRun({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const change = usePauseFlowRun();
  const paused = isPaused(run);
  return (
    <Button
      variant="default" leftSection={<Icon name={paused ? 'play' : 'pause'} size={16} />} loading={change.isPending}
      onClick={() => change.mutate({ run: run.id, pause: !paused }, { onError: (error) => showFailure(t, i18n.language, error) })}
    >
      {t(paused ? 'flowRun.resume' : 'flowRun.pause')}
    </Button>
  );
}
