import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { Facts } from '../../parts/Facts.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { reasonText } from '../../parts/reasonText.ts';

export function RunFacts({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const duration = secondsBetween(run.startedAt, run.endedAt);
  const worker = run.workerName ?? run.worker;
  return (
    <Panel title={t('common.about')}>
      <Facts
        entries={[
          [t('run.reason'), run.reason && visible(reasonText(t, i18n.language, run.reason))],
          [t('run.exitCode'), run.exitCode !== undefined && <strong>{run.exitCode}</strong>],
          [t('run.signal'), run.signal],
          [t('run.duration'), duration !== undefined && formatSeconds(duration)],
          [t('run.cause'), t(`cause.${run.cause}`)],
          [t('run.triggeredBy'), run.triggeredBy && <PlainText>{run.triggeredBy}</PlainText>],
          [t('run.note'), run.note && <PlainText>{run.note}</PlainText>],
          [t('run.attempt'), run.attempt > 0 && String(run.attempt)],
          [t('runs.gapFact'), run.gap && t('runs.gap', { count: run.gap.count, to: formatTime(run.gap.to, i18n.language) })],
          [t('run.worker'), worker && <PlainText>{worker}</PlainText>],
          [t('run.cpu'), run.cpuSeconds !== undefined && formatSeconds(run.cpuSeconds)],
          [t('run.memory'), run.maxRssBytes !== undefined && formatBytes(run.maxRssBytes)],
          [t('run.version'), run.jobVersion !== undefined && String(run.jobVersion)],
          [t('run.id'), <code className="small">{run.id}</code>],
        ]}
      />
    </Panel>
  );
}
