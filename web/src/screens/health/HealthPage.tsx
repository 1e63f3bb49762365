import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useDoctor } from '../../api/doctor.ts';
import { visible } from '../../lib/visible.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { bySeverity } from './findings.ts';
import { FindingList } from './FindingList.tsx';
import { LeftSettings } from './LeftSettings.tsx';
import { RecordsPanel } from './RecordsPanel.tsx';
import classes from './health.module.css';

/** All checks of the cluster, with a remedy for each problem. */
export function HealthPage() {
  const { t } = useTranslation();
  const doctor = useDoctor();
  const found = doctor.data;
  const groups = bySeverity(found?.findings ?? []);
  const problems = groups.filter(({ status }) => status !== 'ok');
  const passed = groups.find(({ status }) => status === 'ok')?.findings ?? [];
  return (
    <>
      <PageHead title={t('health.title')} name={t('health.title')}>
        <Button variant="default" leftSection={<Icon name="refresh" size={16} />} loading={doctor.isFetching} onClick={() => void doctor.refetch()}>{t('health.again')}</Button>
      </PageHead>
      {doctor.error && !found && <ProblemNotice error={doctor.error} onRetry={() => void doctor.refetch()} />}
      {!found && !doctor.error && <Waiting rows={4} />}
      {found && (
        <div className={classes.page} data-health={found.status}>
          <p className="small dim">
            <Filled text={t('health.checked', { at: slot, master: visible(found.master ?? ''), version: visible(found.version) })}><RelativeTime at={found.at} /></Filled>
          </p>
          {problems.length === 0 && <EmptyPage icon="check" title={t('health.noneTitle')}><p>{t('health.none', { count: passed.length })}</p></EmptyPage>}
          {problems.map(({ status, findings }) => (
            <Panel key={status} title={t(`health.groups.${status}`, { count: findings.length })}><FindingList findings={findings} /></Panel>
          ))}
          <RecordsPanel records={found.records ?? []} />
          <LeftSettings />
          {passed.length > 0 && (
            <details className={`unfold ${classes.passed}`} open={problems.length === 0}>
              <summary>{t('health.passed', { count: passed.length })}</summary>
              <FindingList findings={passed} />
            </details>
          )}
        </div>
      )}
    </>
  );
}
