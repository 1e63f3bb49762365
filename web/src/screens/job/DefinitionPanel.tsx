import { Button, SegmentedControl } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Definition, Job } from '../../api/types.ts';
import { saveAs } from '../../lib/saveAs.ts';
import { visible } from '../../lib/visible.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { effective } from '../../lib/effective.ts';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { policies } from '../../parts/policies.ts';
import { PolicyFacts } from '../../parts/PolicyFacts.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { DefinitionFacts } from './DefinitionFacts.tsx';
import classes from './DefinitionPanel.module.css';
import jobClasses from './JobPage.module.css';


const formats = ['yaml', 'json'] as const;
type Format = (typeof formats)[number];

/** The YAML formatter is loaded with the first definition that is shown. */
function useText(definition: Definition, format: Format): string | undefined {
  const [text, setText] = useState<{ of: string; yaml: string } | undefined>();
  const json = `${JSON.stringify(definition, null, 2)}\n`;
  useEffect(() => {
    let gone = false;
    void import('../../lib/yaml.ts').then(({ toYaml }) => {
      if (!gone) setText({ of: json, yaml: toYaml(JSON.parse(json) as Definition) });
    });
    return () => {
      gone = true;
    };
  }, [json]);
  if (format === 'json') return json;
  return text?.of === json ? text.yaml : undefined;
}

/** The definition as a file, commands that create the same job elsewhere, and its fields. */
export function DefinitionPanel({ job }: { job: Job }) {
  const { t, i18n } = useTranslation();
  const [format, setFormat] = useState<Format>('yaml');
  const clipboard = useClipboard({ timeout: 1500 });
  const { meta: _meta, ...definition } = job;
  const { job: whole, from } = effective(job);
  const text = useText(definition, format);
  const file = `${job.name}.${format}`;
  const origin = window.location.origin;
  return (
    <div className={jobClasses.columns}>
      <div className={jobClasses.stack}>
        <Panel
          title={t('job.asFile')}
          side={
            <div className={classes.tools}>
              <SegmentedControl size="xs" aria-label={t('job.format')} value={format} onChange={(value) => setFormat(value as Format)} data={formats.map((value) => ({ value, label: `.${value}` }))} />
              <Button size="xs" variant="default" disabled={text === undefined} leftSection={<Icon name={clipboard.copied ? 'check' : 'copy'} size={14} />} onClick={() => text !== undefined && clipboard.copy(text)}>
                {t(clipboard.copied ? 'common.copied' : 'common.copy')}
              </Button>
              <Button size="xs" variant="default" disabled={text === undefined} leftSection={<Icon name="download" size={14} />} onClick={() => text !== undefined && saveAs(file, text)}>{t('run.download')}</Button>
            </div>
          }
        >
          {text === undefined ? <Waiting rows={6} /> : <pre className={classes.text} tabIndex={0} role="region" aria-label={file}>{visible(text)}</pre>}
        </Panel>
        <Panel title={t('job.elsewhere')}>
          <div className={classes.lines}>
            <p>{t('job.byCronctl')}</p>
            <CopyLine>{`cronctl apply -f ${job.name}.yaml`}</CopyLine>
            <p>{t('job.byCurl')}</p>
            <CopyLine>{`curl -sS -X PUT -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' --data-binary @${job.name}.json ${origin}/api/v1/jobs/${job.name}`}</CopyLine>
            <p>{t('job.runByCronctl')}</p>
            <CopyLine>{`cronctl run ${job.name} --follow`}</CopyLine>
          </div>
        </Panel>
      </div>
      <div className={jobClasses.stack}>
        <Panel title={t('job.fields')}>
          <DefinitionFacts job={job} />
        </Panel>
        <Panel title={t('policy.title')}>
          <PolicyFacts entries={policies(t, i18n.language, whole)} from={from} />
        </Panel>
      </div>
    </div>
  );
}
