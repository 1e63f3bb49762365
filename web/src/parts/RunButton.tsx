import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';
import type { Runnable } from './showRunRequested.tsx';
import { useRunNow } from './useRunNow.tsx';

interface Props {
  job: Runnable;
  /** Initial parameters, from an earlier run. */
  given?: Record<string, string> | undefined;
  variant?: 'filled' | 'default';
  /** Label, if other than the default. */
  label?: string;
  disabled?: boolean;
}

/** Runs a job now. Options are a second button unless the job needsParams for parameters anyway. */
export function RunButton({ job, given, variant = 'filled', label, disabled = false }: Props) {
  const { t } = useTranslation();
  const { run, ask, isPending, dialog } = useRunNow();
  const needsParams = Object.keys(job.params ?? {}).length > 0;
  return (
    <>
      <Button.Group>
        <Button variant={variant} leftSection={<Icon name="play" size={16} />} loading={isPending} disabled={disabled} onClick={() => run(job, given)}>{label ?? (needsParams ? t('jobs.runAsking') : t('jobs.run'))}</Button>
        {!needsParams && (
          <Button variant={variant} px="xs" disabled={disabled} aria-label={t('jobs.runWith')} title={t('jobs.runWith')} onClick={() => ask(job, given)}>
            <Icon name="gear" size={16} />
          </Button>
        )}
      </Button.Group>
      {dialog}
    </>
  );
}
