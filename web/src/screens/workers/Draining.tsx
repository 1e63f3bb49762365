import { Progress } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/types.ts';
import { drainOf } from '../../lib/workerState.ts';
import classes from './WorkersPage.module.css';

/** Progress of a drain: remaining runs out of the highest number seen. */
export function Draining({ worker }: { worker: Worker }) {
  const { t } = useTranslation();
  const [most, setMost] = useState(worker.running);
  useEffect(() => setMost((old) => Math.max(old, worker.running)), [worker.running]);
  const done = worker.running === 0;
  const words = { drained: t('workers.isDrained'), draining: t('workers.draining'), stopping: t('workers.stopping') }[drainOf(worker) ?? 'draining'];
  return (
    <div data-drained={done}>
      <strong className={classes.trouble} data-draining="">{words}</strong>
      <div className={classes.left} role="status">
        {!done && <Progress className={classes.leftBar} size="sm" value={most > 0 ? ((most - worker.running) / most) * 100 : 100} color="yellow" aria-label={t('workers.draining')} />}
        <span className="small">{done ? t('workers.nothingLeft') : t('workers.left', { count: worker.running })}</span>
      </div>
    </div>
  );
}
