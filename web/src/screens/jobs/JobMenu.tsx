import { Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Job } from '../../api/types.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './JobTable.module.css';

/** The actions on one job. */
export interface JobActs {
  mayRun: (job: Job) => boolean;
  mayEdit: (job: Job) => boolean;
  onRun: (job: Job) => void;
  onAsk: (job: Job) => void;
  onPause: (job: Job) => void;
  onDelete: (job: Job) => void;
}

/** The actions menu. There is one for the whole table, at the row from which it was opened. */
export function JobMenu({ job, left, top, acts, onClose }: { job: Job; left: number; top: number; acts: JobActs; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Menu opened onClose={onClose} position="bottom-end" returnFocus>
      <Menu.Target><span className={classes.anchor} style={{ left, top }} /></Menu.Target>
      <Menu.Dropdown aria-label={t('jobs.actionsFor', { name: job.name })}>
        <Menu.Item leftSection={<Icon name="gear" size={16} />} onClick={() => acts.onAsk(job)}>{t('jobs.runWith')}</Menu.Item>
        <Menu.Item leftSection={<Icon name={job.meta.paused ? 'play' : 'pause'} size={16} />} onClick={() => acts.onPause(job)}>
          {job.meta.paused ? t('pause.resume') : t('pause.pause')}
        </Menu.Item>
        {acts.mayEdit(job) && (
          <>
            <Menu.Item renderRoot={(props) => <Link to="/jobs/$name/edit" params={{ name: job.name }} {...props} />} leftSection={<Icon name="pencil" size={16} />}>{t('jobs.edit')}</Menu.Item>
            <Menu.Item renderRoot={(props) => <Link to="/new/job" search={{ from: job.name }} {...props} />} leftSection={<Icon name="copy" size={16} />}>{t('jobs.copy')}</Menu.Item>
            <Menu.Item color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => acts.onDelete(job)}>{t('jobs.delete')}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
