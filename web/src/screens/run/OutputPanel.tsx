import { Button, SegmentedControl, Switch } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { downloadUrl, useRunOutput, type Stream } from '../../api/output.ts';
import { isTerminal } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { LogView } from './LogView.tsx';
import classes from './OutputPanel.module.css';

/** What the command printed, as it prints it. */
export function OutputPanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const [stream, setStream] = useState<Stream>('all');
  const [follow, setFollow] = useState(true);
  const [wrap, setWrap] = useState(true);
  const started = run.status !== 'waiting' && run.attempt > 0;
  const output = useRunOutput(run.id, stream, started);
  const size = Math.max(output.size, run.outputBytes);
  const live = !isTerminal(run.status);

  return (
    <Panel
      title={t('run.output')}
      side={
        started && (
          <div className={classes.tools}>
            <SegmentedControl
              size="xs" value={stream} onChange={(value) => setStream(value as Stream)} aria-label={t('run.stream')}
              data={[{ value: 'all', label: t('run.all') }, { value: 'stdout', label: t('run.stdout') }, { value: 'stderr', label: t('run.stderr') }]}
            />
            {live && <Switch size="xs" label={t('run.follow')} checked={follow} onChange={(e) => setFollow(e.currentTarget.checked)} />}
            <Switch size="xs" label={t('run.wrap')} checked={wrap} onChange={(e) => setWrap(e.currentTarget.checked)} />
            <Button size="xs" variant="default" component="a" href={downloadUrl(run.id)} download={`${run.id}.log`} leftSection={<Icon name="download" size={14} />}>
              {t('run.download')}
            </Button>
          </div>
        )
      }
    >
      {output.error && <ProblemNotice error={output.error} />}
      {run.outputTruncated && <p className={classes.truncated}>{t('run.truncated')}</p>}
      {!started && <p className="dim">{isTerminal(run.status) ? t('run.didNotRun') : t('run.notStarted')}</p>}
      {started && output.lines.length === 0 && output.complete && <p className="dim">{stream === 'all' ? t('run.noOutput') : t('run.noOutputStream')}</p>}
      {started && (output.lines.length > 0 || !output.complete) && !output.error && (
        <LogView lines={output.lines} wrap={wrap} follow={live && follow} label={t('run.log')} onScrolledAway={() => setFollow(false)} />
      )}
      {started && (
        <div className={classes.foot}>
          <span>{t('run.lines', { count: output.lines.length })} · {t('run.bytes', { size: formatBytes(size) })}</span>
          {output.away && <span className={classes.away}>{t('run.away')}</span>}
          {!output.complete && !output.error && !output.away && <span className={classes.live}>{t('run.live')}</span>}
        </div>
      )}
    </Panel>
  );
}
