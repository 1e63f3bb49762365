import { Alert, Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Backfill } from '../../api/backfills.ts';
import { Icon } from '../../parts/icons.tsx';
import type { TimeRange } from './FireCalendar.tsx';

interface Props {
  yielded: NonNullable<Backfill['yielded']>;
  /** Another backfill of the job has not ended. */
  busy: boolean;
  /** Asks for a backfill of these fires; undefined if the user may not. */
  onRun: ((range: TimeRange) => void) | undefined;
}

/** How many planned fires were skipped because of a backfill, and the button that runs them. */
export function Yielded({ yielded: { count, more, partial, from, to }, busy, onRun }: Props) {
  const { t } = useTranslation();
  return (
    <>
      {partial && <Alert color="yellow" variant="light" icon={<Icon name="warn" />} data-partial="">{t('backfill.yieldedPartial')}</Alert>}
      {from !== undefined && to !== undefined && (
        <Group gap="xs" data-yielded="">
          <span>{t(more ? 'backfill.yieldedMore' : 'backfill.yielded', { count })}</span>
          {onRun && <Button size="xs" variant="default" disabled={busy} title={busy ? t('backfill.oneAtATime') : undefined} onClick={() => onRun({ from, to })}>{t('backfill.runYielded')}</Button>}
        </Group>
      )}
    </>
  );
}
