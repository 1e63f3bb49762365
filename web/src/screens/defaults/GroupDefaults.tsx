import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefaults } from '../../api/defaults.ts';
import type { Defaults, JobDefaults } from '../../api/types.ts';
import { allGroups, groupLine } from '../../lib/groups.ts';
import { visible } from '../../lib/visible.ts';
import { DefaultsReview } from '../../parts/DefaultsReview.tsx';
import { originText } from '../../parts/FromDefaults.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useCan } from '../../parts/session.ts';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './defaults.module.css';
import { DefaultsFacts } from './DefaultsFacts.tsx';
import { DefaultsVersions } from './DefaultsVersions.tsx';

/** The defaults of a group, or of all jobs, with their versions. */
export function GroupDefaults({ group }: { group: string }) {
  const { t } = useTranslation();
  const isAll = group === allGroups;
  const mayEdit = useCan('editor', isAll ? '' : group);
  const defaults = useDefaults();
  const [act, setAct] = useState<{ kind: 'delete' | 'restore'; values: Defaults } | undefined>();
  const all = defaults.data?.items;
  const stored = all?.find((one) => one.group === group);
  const title = isAll ? t('defaults.allTitle') : t('defaults.ofTitle', { group: visible(group) });
  const outer = isAll ? [] : [...groupLine(group).slice(1), allGroups].filter((one) => all?.some((of) => of.group === one));
  return (
    <>
      <PageHead title={title} name={title}>
        {mayEdit && all && <Button leftSection={<Icon name={stored ? 'pencil' : 'plus'} size={16} />} renderRoot={(props) => <Link to="/defaults/edit" search={{ group }} {...props} />}>{t(stored ? 'defaults.edit' : 'defaults.create')}</Button>}
        {mayEdit && stored && <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={() => setAct({ kind: 'delete', values: {} })}>{t('defaults.delete')}</Button>}
      </PageHead>
      <p className={classes.links}>
        <Link to="/defaults">{t('defaults.all')}</Link>
        <Link to="/jobs" search={isAll ? {} : { group }}>{t(isAll ? 'job.allJobs' : 'defaults.jobs')}</Link>
      </p>
      {defaults.error && !all && <ProblemNotice error={defaults.error} onRetry={() => void defaults.refetch()} />}
      {!all && !defaults.error && <Waiting rows={4} />}
      {all && (
        <div className={classes.columns}>
          <Panel title={t('defaults.values')} side={stored && <Changed stored={stored} />}>
            {stored ? <DefaultsFacts values={stored} /> : <p className="dim">{t(isAll ? 'defaults.nothingAll' : 'defaults.nothing')}</p>}
            {outer.length > 0 && (
              <>
                <p className="small dim">{t('defaults.inherits')}</p>
                <ul className={classes.outer}>{outer.map((one) => <li key={one}><Link to="/defaults" search={{ group: one }}>{originText(t, one)}</Link></li>)}</ul>
              </>
            )}
          </Panel>
          <DefaultsVersions group={group} current={stored?.version} mayEdit={mayEdit} onRestore={(values) => setAct({ kind: 'restore', values })} />
        </div>
      )}
      {act && <DefaultsReview group={group} values={act.values} version={stored?.version} act={act.kind} onSaved={() => setAct(undefined)} onClose={() => setAct(undefined)} />}
    </>
  );
}

function Changed({ stored: { updatedAt, updatedBy } }: { stored: JobDefaults }) {
  return <span className="small dim">{updatedAt && <TimeText at={updatedAt} />} {updatedBy && <PlainText>{updatedBy}</PlainText>}</span>;
}
