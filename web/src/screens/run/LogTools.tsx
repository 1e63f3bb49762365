import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { downloadUrl } from '../../api/output.ts';
import type { Run } from '../../api/types.ts';
import { Icon, type IconName } from '../../parts/icons.tsx';
import classes from './OutputPanel.module.css';

interface Props {
  run: Run;
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
}

/** Display options of the output, and jumps within it. */
export function LogTools({ run, live, follow, onFollow, wrap, onWrap, times, onTimes, full, onFull, onError }: Props) {
  const { t } = useTranslation();
  return (
    <div className={classes.tools}>
      {live && <Tool icon="follow" name={t('run.follow')} on={follow} onClick={() => onFollow(!follow)} />}
      <Tool icon="wrap" name={t('run.wrap')} on={wrap} onClick={() => onWrap(!wrap)} />
      <Tool icon="clock" name={t('run.times')} on={times} onClick={() => onTimes(!times)} />
      <Tool icon="warn" name={t('run.firstError')} onClick={onError} />
      <Button
        size="xs" variant="default" className={classes.tool} component="a" href={downloadUrl(run.id)} download={`${run.id}.log`} aria-label={t('run.download')} title={t('run.download')} leftSection={<Icon name="download" size={14} />}
      >
        <span className={classes.word}>{t('run.download')}</span>
      </Button>
      <Tool icon={full ? 'close' : 'expand'} name={t(full ? 'run.leaveFull' : 'run.full')} on={full} onClick={onFull} />
    </div>
  );
}

/** A button that shrinks to its icon; a toggle shows its state. */
function Tool({ icon, name, on, onClick }: { icon: IconName; name: string; on?: boolean; onClick: () => void }) {
  return (
    <Button size="xs" variant="default" className={classes.tool} aria-label={name} title={name} aria-pressed={on} leftSection={<Icon name={icon} size={14} />} onClick={onClick}>
      <span className={classes.word}>{name}</span>
    </Button>
  );
}
