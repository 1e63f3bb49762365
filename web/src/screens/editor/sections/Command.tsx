import { SegmentedControl, Switch, Textarea } from '@mantine/core';
import { useRef, useState, type ClipboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useCan } from '../../../parts/session.ts';
import { useSecrets } from '../../../api/secrets.ts';
import { Panel } from '../../../parts/Panel.tsx';
import { fieldId, useField, useForm } from '../context.ts';
import { same } from '../../../lib/same.ts';
import classes from '../fields.module.css';
import { Fold } from '../Fold.tsx';
import { Area, Text, useTexts, Words } from '../inputs.tsx';
import { NamedRows } from '../NamedRows.tsx';
import { OutputFields } from '../OutputFields.tsx';
import { ParamFields } from '../ParamFields.tsx';
import { Redirected } from '../Redirected.tsx';
import { useEnvTexts } from '../useEnvTexts.ts';
import { Flow } from './Flow.tsx';
import { TypeChoice, TypeSettings } from './TypeSettings.tsx';

function linesOf(text: string): string[] | undefined {
  const lines = text.split('\n').filter((line, i, all) => line !== '' || i < all.length - 1);
  return lines.length > 0 ? lines : undefined;
}

/** The program and its arguments, one per line. */
function Args({ error }: { error: string | undefined }) {
  const { doc, definition } = useForm();
  const [draft, setDraft] = useState<string>();
  const { label, description } = useTexts(['args']);
  const args = Array.isArray(definition.args) ? definition.args.map((arg) => String(arg ?? '')) : [];
  const written = draft !== undefined && same(linesOf(draft) ?? [], args) ? draft : args.join('\n');
  return (
    <Textarea
      id={fieldId('args')} className={classes.mono} label={label} description={description} required withAsterisk autosize minRows={2} maxRows={16} value={written} error={error} spellCheck={false} autoCapitalize="none"
      onBlur={() => setDraft(undefined)}
      onChange={(e) => {
        setDraft(e.currentTarget.value);
        doc.set(['args'], linesOf(e.currentTarget.value));
      }}
    />
  );
}

function ConfirmRun() {
  const { id, value, error, set } = useField(['confirmRun']);
  const { label, description } = useTexts(['confirmRun']);
  return <Switch id={id} label={label} description={description} checked={value === true} error={error} onChange={(e) => set(e.currentTarget.checked || undefined)} />;
}

export function Command({ onPaste }: { onPaste: (event: ClipboardEvent<HTMLElement>) => void }) {
  const { t } = useTranslation();
  const { doc, definition, errorAt } = useForm();
  const secrets = useSecrets(useCan('editor'));
  const [chosen, setChosen] = useState<'command' | 'args'>('command');
  // The values of the other kind return when it is chosen again.
  const put = useRef<{ command?: unknown; args?: unknown }>({});
  const suggestions = secrets.data?.items.map((secret) => `secret:${secret.name}`);
  const envTexts = useEnvTexts();
  if (definition.steps !== undefined) return <Flow secrets={suggestions} />;
  const typed = typeof definition.type === 'string' && definition.type !== '' && definition.type !== 'shell';
  const isRequest = definition.type === 'http';
  const kind = definition.args !== undefined ? 'args' : definition.command !== undefined ? 'command' : chosen;
  const choose = (next: 'command' | 'args') => {
    setChosen(next);
    put.current[kind] = definition[kind];
    doc.setAll([[[kind], undefined], [[next], put.current[next]]]);
  };
  return (
    <>
      <Panel title={t('editor.how')}>
        <div className={classes.stack}>
          <TypeChoice />
          {typed && <TypeSettings />}
          {!typed && (
            <SegmentedControl
              aria-label={t('editor.kind')} value={kind} onChange={(value) => choose(value as 'command' | 'args')} className={classes.start}
              data={[{ value: 'command', label: t('editor.shellCommand') }, { value: 'args', label: t('editor.program') }]}
            />
          )}
          {/* If both are missing or both are set, the fault is shown at the visible field. */}
          {typed ? null : kind === 'command' ? <Area path={['command']} required onPaste={onPaste} /> : <Args error={errorAt('args') ?? errorAt('command')} />}
          {!typed && kind === 'command' && <Redirected />}
          <NamedRows field="env" suggestions={suggestions} texts={envTexts} />
          <ParamFields />
        </div>
      </Panel>
      <Fold id="command" title={t('editor.howMore')} fields={['stdin', 'workDir', 'user', 'shell', 'successExitCodes', 'outputs', 'confirmRun']}>
        <div className={classes.stack}>
          {!typed && <Area path={['stdin']} rows={1} />}
          <div className={classes.pair}>
            {!isRequest && <Text path={['workDir']} />}
            {!isRequest && <Text path={['user']} />}
            {!typed && kind === 'command' && <Text path={['shell']} />}
            <Words path={['successExitCodes']} numbers />
          </div>
          <OutputFields />
          <ConfirmRun />
        </div>
      </Fold>
    </>
  );
}
