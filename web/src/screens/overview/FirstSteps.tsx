import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCan } from '../../parts/session.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import classes from './FirstSteps.module.css';

const ImportDialog = lazy(() => import('../editor/ImportDialog.tsx').then((m) => ({ default: m.ImportDialog })));

/** First steps for an installation without jobs. */
export function FirstSteps({ alive }: { alive: number }) {
  const { t } = useTranslation();
  const mayEdit = useCan('editor');
  const [importing, setImporting] = useState(false);
  if (!mayEdit) {
    return (
      <EmptyPage icon="bell" title={t('overview.first')}>
        <p>{t('overview.firstViewer')}</p>
      </EmptyPage>
    );
  }
  return (
    <Panel title={t('overview.first')}>
      <p className={classes.lead}>{t('overview.firstText')}</p>
      <ol className={classes.steps} data-first-steps="">
        <li>
          <h3>{t('overview.firstCrontab')}</h3>
          <p>{t('overview.firstCrontabText')}</p>
          <div><Button leftSection={<Icon name="calendar" size={16} />} onClick={() => setImporting(true)}>{t('jobs.import')}</Button></div>
          <CopyLine>crontab -l | cronctl import-crontab -</CopyLine>
          <CopyLine>cronctl import-crontab --system /etc/crontab</CopyLine>
        </li>
        <li>
          <h3>{t('overview.firstJob')}</h3>
          <p>{t('overview.firstJobText')}</p>
          <div><Button renderRoot={(props) => <Link to="/new/job" {...props} />} leftSection={<Icon name="plus" size={16} />}>{t('overview.firstNew')}</Button></div>
        </li>
        <li>
          <h3>{t('overview.firstTerminal')}</h3>
          <p>{t('overview.firstTerminalText')}</p>
          <CopyLine>{`cronctl login ${window.location.origin}`}</CopyLine>
          <CopyLine>cronctl get jobs --watch</CopyLine>
        </li>
      </ol>
      <p className={classes.workers} data-alive={alive}>
        <Icon name={alive > 0 ? 'check' : 'warn'} size={16} /> <Link to="/workers">{alive > 0 ? t('overview.firstWorkers', { count: alive }) : t('overview.firstNoWorker')}</Link>
      </p>
      <Suspense>{importing && <ImportDialog onClose={() => setImporting(false)} />}</Suspense>
    </Panel>
  );
}
