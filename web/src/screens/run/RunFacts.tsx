import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { formatSeconds, parseDuration, secondsBetween } from '../../lib/duration.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { Facts } from '../../parts/Facts.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './RunPage.module.css';

// The clocks of two machines may differ a little, so that a delay can be negative.
function length(text: string): string {
  const seconds = parseDuration(text.replace(/^-/, ''));
  return seconds === undefined ? visible(text) : formatSeconds(text.startsWith('-') ? -seconds : seconds);
}

export function RunFacts({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const duration = secondsBetween(run.startedAt, run.endedAt);
  const params = Object.entries(run.params ?? {}).map(([name, value]) => `${name}=${value}`).join('\n');
  const worker = run.workerName ?? run.worker;
  return (
    <Panel title={t('common.about')}>
      <Facts
        entries={[
          [t('run.reason'), run.status !== 'waiting' && run.reason && <Why reason={run.reason} />],
          [t('run.exitCode'), run.exitCode !== undefined && <strong>{run.exitCode}</strong>],
          [t('run.signal'), run.signal],
          [t('run.duration'), duration !== undefined && formatSeconds(duration)],
          [t('run.cause'), t(`cause.${run.cause}`)],
          [t('run.triggeredBy'), run.triggeredBy && <PlainText>{run.triggeredBy}</PlainText>],
          [t('run.note'), run.note && <PlainText>{run.note}</PlainText>],
          [t('run.attempt'), run.attempt > 0 && String(run.attempt)],
          [t('runs.gapFact'), run.gap && t(run.reason?.data?.count === 'at_least' ? 'runs.gapAtLeast' : 'runs.gap', { count: run.gap.count, from: formatTime(run.gap.from, i18n.language) })],
          [t('run.params'), params !== '' && <span className={classes.params}>{visible(params)}</span>],
          [t('run.where'), run.delays && t('run.whereText', { plan: length(run.delays.plan), claim: length(run.delays.claim), start: length(run.delays.start) })],
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
