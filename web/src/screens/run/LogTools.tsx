import { ActionIcon, Button, SegmentedControl, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { downloadUrl } from '../../api/output.ts';
import type { Run } from '../../api/types.ts';
import type { Stream } from '../../lib/logline.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './OutputPanel.module.css';

interface Props {
  run: Run;
  only: Stream | undefined;
  onOnly: (only: Stream | undefined) => void;
  live: boolean;
  follow: boolean;
  onFollow: (follow: boolean) => void;
  wrap: boolean;
  onWrap: (wrap: boolean) => void;
  times: boolean;
  onTimes: (times: boolean) => void;
  full: boolean;
  onFull: () => void;
  onError: () => void;
  narrow: boolean;
}

/** How the output is shown, and the ways to other parts of it. */
export function LogTools({ run, only, onOnly, live, follow, onFollow, wrap, onWrap, times, onTimes, full, onFull, onError, narrow }: Props) {
  const { t } = useTranslation();
  return (
    <div className={classes.tools}>
      <SegmentedControl
        size="xs" value={only ?? 'all'} onChange={(value) => onOnly(value === 'all' ? undefined : (value as Stream))} aria-label={t('run.stream')}
        data={[{ value: 'all', label: t('run.all') }, { value: 'stdout', label: t('run.stdout') }, { value: 'stderr', label: t('run.stderr') }]}
      />
      {live && <Switch size="xs" label={t('run.follow')} checked={follow} onChange={(e) => onFollow(e.currentTarget.checked)} />}
      <Switch size="xs" label={t('run.wrap')} checked={wrap} onChange={(e) => onWrap(e.currentTarget.checked)} />
      <Switch size="xs" label={t('run.times')} checked={times} onChange={(e) => onTimes(e.currentTarget.checked)} />
      <Button size="xs" variant="default" leftSection={<Icon name="warn" size={14} />} onClick={onError}>{t('run.firstError')}</Button>
      <Button size="xs" variant="default" component="a" href={downloadUrl(run.id)} download={`${run.id}.log`} leftSection={<Icon name="download" size={14} />}>
        {t('run.download')}
      </Button>
      {!narrow || full ? (
        <ActionIcon variant="default" size={30} aria-label={t(full ? 'run.leaveFull' : 'run.full')} title={t(full ? 'run.leaveFull' : 'run.full')} aria-pressed={full} onClick={onFull}>
          <Icon name={full ? 'close' : 'expand'} size={14} />
        </ActionIcon>
      ) : (
        <Button size="xs" variant="default" leftSection={<Icon name="expand" size={14} />} onClick={onFull}>{t('run.full')}</Button>
      )}
    </div>
  );
}
