import { Progress } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/types.ts';
import classes from './WorkersPage.module.css';

/** Progress of a drain: remaining runs out of the highest number seen. */
export function DrainProgress({ worker }: { worker: Worker }) {
  const { t } = useTranslation();
  const [most, setMost] = useState(worker.running);
  useEffect(() => setMost((old) => Math.max(old, worker.running)), [worker.running]);
  const done = worker.running === 0;
  return (
    <span className={classes.left} role="status" data-drained={done}>
      {!done && <Progress className={classes.leftBar} size="sm" value={most > 0 ? ((most - worker.running) / most) * 100 : 100} color="yellow" aria-label={t('workers.draining')} />}
      <span>{done ? t('workers.nothingLeft') : t('workers.left', { count: worker.running })}</span>
    </span>
  );
}
