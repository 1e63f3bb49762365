import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Job } from '../../api/types.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { zoneOf } from '../../parts/scheduleText.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { visible } from '../../lib/visible.ts';
import classes from './AfterPanel.module.css';

type Parent = NonNullable<Job['meta']['parents']>[number];

/** The parents of the job, with those that it waits for, the jobs that run after it, and the flows that use it. */
export function AfterPanel({ job }: { job: Job }) {
  const { t } = useTranslation();
  const parents = job.meta.parents ?? [];
  const children = job.meta.children ?? [];
  const runBy = job.meta.runBy ?? [];
  const waitedBy = job.meta.waitedBy ?? [];
  if (parents.length + children.length + runBy.length + waitedBy.length === 0) return null;
  return (
    <Panel title={t(parents.length + children.length > 0 ? 'after.title' : 'after.inFlows')} help={parents.length > 0 ? t('after.help') : undefined}>
      {parents.length > 0 && (
        <ul className={classes.list} aria-label={t('after.parents')} data-parents="">
          {parents.map((parent) => <ParentRow key={parent.job} parent={parent} zone={zoneOf(job)} />)}
        </ul>
      )}
      <Names label={t('after.children')} names={children} />
      <Names label={t('after.runBy')} names={runBy} />
      <Names label={t('after.waitedBy')} names={waitedBy} />
    </Panel>
  );
}

function Names({ label, names }: { label: string; names: string[] }) {
  if (names.length === 0) return null;
  return (
    <>
      <p className={`small dim ${classes.children}`}>{label}</p>
      <ul className={classes.list} aria-label={label}>
        {names.map((name) => <li key={name}><Link to="/jobs/$name" params={{ name }}>{visible(name)}</Link></li>)}
      </ul>
    </>
  );
}

function ParentRow({ parent, zone }: { parent: Parent; zone: string | undefined }) {
  const { t } = useTranslation();
  const name = visible(parent.job);
  return (
    <li className={classes.parent} data-waiting={parent.waiting ?? false}>
      <Icon name={parent.missing ? 'warn' : parent.waiting ? 'clock' : 'check'} size={16} />
      <span className={`break ${classes.text}`}>
        {parent.missing ? name : <Link to="/jobs/$name" params={{ name: parent.job }}>{name}</Link>}
        <span className="small dim">
          {parent.missing ? t('after.missing') : parent.waiting ? t('after.waits') : t('after.succeeded')}
          {parent.run && parent.succeededAt && (
            <>
              {' · '}
              <Filled text={t('after.last', { at: slot })}>
                <Link to="/runs/$id" params={{ id: parent.run }}><RelativeTime at={parent.succeededAt} zone={zone} /></Link>
              </Filled>
            </>
          )}
        </span>
      </span>
    </li>
  );
}
