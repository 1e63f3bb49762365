import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { mostFires } from '../api/failures.ts';
import classes from './FailureBar.module.css';
import { FailureDialog, type FailureAct } from './FailureDialog.tsx';
import { Icon } from './icons.tsx';
import type { Failure } from './RerunList.tsx';

/** The actions on selected failures. */
export function FailureBar({ fires, onClear }: { fires: readonly Failure[]; onClear: () => void }) {
  const { t } = useTranslation();
  const [act, setAct] = useState<FailureAct | undefined>();
  const count = fires.length;
  const many = count > mostFires;
  return (
    <div className={classes.bar} role="region" aria-label={t('failures.selection')} data-failures={count}>
      <strong role="status">{t('failures.selected', { count })}</strong>
      {many && <span className="small">{t('failures.most', { count: mostFires })}</span>}
      <span className={classes.acts}>
        <Button size="xs" disabled={many} leftSection={<Icon name="play" size={14} />} onClick={() => setAct('rerun')}>{t('failures.rerun.verb')}</Button>
        <Button size="xs" variant="default" disabled={many} leftSection={<Icon name="check" size={14} />} onClick={() => setAct('ack')}>{t('failures.ack.verb')}</Button>
        <Button size="xs" variant="subtle" color="gray" onClick={onClear}>{t('jobs.selectNone')}</Button>
      </span>
      {act && (
        <FailureDialog
          act={act} fires={fires}
          onClose={(done) => {
            setAct(undefined);
            if (done) onClear();
          }}
        />
      )}
    </div>
  );
}
