import { Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Panel } from '../../../parts/Panel.tsx';
import { fieldId, useField, useForm } from '../context.ts';
import classes from '../fields.module.css';
import { Fold } from '../Fold.tsx';
import { Text, useTexts, Whole } from '../inputs.tsx';
import { NamedRows } from '../NamedRows.tsx';
import { ParamFields } from '../ParamFields.tsx';
import { useEnvTexts } from '../useEnvTexts.ts';

function FailFast() {
  const { id, value, error, set } = useField(['failFast']);
  const { label, description } = useTexts(['failFast']);
  return <Switch id={id} label={label} description={description} checked={value === true} error={error} onChange={(e) => set(e.currentTarget.checked || undefined)} />;
}

/** What a flow has in place of a command. Its steps are written as YAML. */
export function Flow({ secrets }: { secrets: string[] | undefined }) {
  const { t } = useTranslation();
  const { definition, errorAt } = useForm();
  const { label, description } = useTexts(['steps']);
  const steps = Array.isArray(definition.steps) ? definition.steps.length : 0;
  const error = errorAt('steps') ?? errorAt('outputs');
  return (
    <>
      <Panel title={label}>
        <div className={classes.stack}>
          <div id={fieldId('steps')} tabIndex={-1} data-steps={steps}>
            <p>{t('editor.stepCount', { count: steps })}</p>
            <p className="small dim">{description}</p>
            {error && <p className={classes.warning}>{error}</p>}
          </div>
          <div className={classes.pair}>
            <Whole path={['concurrency']} />
          </div>
          <FailFast />
          <NamedRows field="env" suggestions={secrets} texts={useEnvTexts()} />
          <ParamFields />
        </div>
      </Panel>
      <Fold id="command" title={t('editor.flowMore')} fields={['workDir', 'user', 'shell']}>
        <div className={classes.pair}>
          <Text path={['workDir']} />
          <Text path={['user']} />
          <Text path={['shell']} />
        </div>
      </Fold>
    </>
  );
}
