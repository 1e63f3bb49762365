import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import { useVersion } from '../../api/versions.ts';
import type { Run } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import classes from './RunPage.module.css';
import { effectiveParams } from './params.ts';

/** The parameters of a run with the values that its command got, defaults included. */
export function RunParams({ run }: { run: Run }) {
  const { t } = useTranslation();
  const job = useJob(run.job, { enabled: !run.hidden }).data?.job;
  // A run has the defaults of its own version; one that waits gets those of the current one.
  const current = run.jobVersion === undefined || run.jobVersion === job?.meta.version;
  const then = useVersion(run.job, current || run.hidden ? undefined : run.jobVersion);
  const params = effectiveParams(current ? job?.params : then.data?.job?.params, run.params);
  if (params.length === 0) return null;
  return (
    <span className={classes.params} data-params="">
      {params.map(({ name, value, isDefault }) => (
        <span key={name} className={classes.param}>{visible(`${name}=${value}`)}{isDefault && <span className="dim"> {t('run.paramDefault')}</span>}</span>
      ))}
    </span>
  );
}
