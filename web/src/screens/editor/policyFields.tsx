import { Checkbox, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useChannels } from '../../api/channels.ts';
import { events } from '../../api/jobs.ts';
import { useWorkers } from '../../api/workers.ts';
import { visible } from '../../lib/visible.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { Choice } from './Choice.tsx';
import classes from './Editor.module.css';
import type { Props } from './fields.tsx';
import type { Form } from './form.ts';

type TextField = { [K in keyof Form]: Form[K] extends string ? (string extends Form[K] ? K : never) : never }[keyof Form];

/** A field for a short text such as a duration or a number; empty where the default holds, which stands in it as a hint. */
function Short({ parts: { form, set, errorAt }, field, label, help, hint, numeric }: { parts: Props; field: TextField; label: string; help?: string; hint?: string; numeric?: boolean }) {
  return (
    <TextInput
      label={label} description={help} placeholder={hint} value={form[field]} error={errorAt(field)} spellCheck={false} autoCapitalize="none"
      inputMode={numeric ? 'numeric' : undefined} onChange={(e) => set({ [field]: e.currentTarget.value })}
    />
  );
}

export function LimitFields(parts: Props) {
  const { t } = useTranslation();
  return (
    <Panel title={t('editor.limits')}>
      <div className={classes.pair}>
        <Short parts={parts} field="timeout" label={t('editor.timeout')} help={t('editor.timeoutHelp')} />
        <Short parts={parts} field="killGrace" label={t('editor.killGrace')} help={t('editor.killGraceHelp')} hint="10s" />
        <Short parts={parts} field="outputMax" label={t('editor.outputMax')} help={t('editor.outputMaxHelp')} hint="16MiB" />
      </div>
    </Panel>
  );
}

export function PolicyFields(parts: Props) {
  const { t } = useTranslation();
  const { form, set, errorAt } = parts;
  return (
    <Panel title={t('policy.title')}>
      <div className={classes.stack}>
        <Choice
          label={t('policy.overlap')} value={form.overlap} error={errorAt('overlap')} otherwise="skip" onChange={(overlap) => set({ overlap })}
          options={{ skip: t('overlap.skip'), queue: t('overlap.queue'), replace: t('overlap.replace'), allow: t('overlap.allow') }}
        />
        <div className={classes.pair}>
          <Short parts={parts} field="startDeadline" label={t('editor.startDeadline')} help={t('editor.startDeadlineHelp')} hint="5m" />
          <Choice
            label={t('editor.catchUp')} description={t('editor.catchUpHelp')} value={form.catchUpPolicy} error={errorAt('catchUpPolicy')} otherwise="latest" onChange={(catchUpPolicy) => set({ catchUpPolicy })}
            options={{ none: t('editor.catchUps.none'), latest: t('editor.catchUps.latest'), all: t('editor.catchUps.all') }}
          />
          {(form.catchUpPolicy !== 'none' || form.catchUpWindow !== '') && <Short parts={parts} field="catchUpWindow" label={t('editor.catchUpWindow')} help={t('editor.catchUpWindowHelp')} hint="1h" />}
          {(form.catchUpPolicy === 'all' || form.catchUpMax !== '') && <Short parts={parts} field="catchUpMax" label={t('editor.catchUpMax')} help={t('editor.catchUpMaxHelp')} hint="10" numeric />}
        </div>
        <div className={classes.pair}>
          <Choice
            label={t('editor.onLost')} description={t('editor.onLostHelp')} value={form.onLost} error={errorAt('onLost')} otherwise="rerun" onChange={(onLost) => set({ onLost })}
            options={{ rerun: t('editor.onLosts.rerun'), abandon: t('editor.onLosts.abandon'), detach: t('editor.onLosts.detach') }}
          />
          <Short parts={parts} field="lostAfter" label={t('editor.lostAfter')} help={t('editor.lostAfterHelp')} hint="60s" />
        </div>
      </div>
    </Panel>
  );
}

export function RetryFields(parts: Props) {
  const { t } = useTranslation();
  const { form, set, errorAt } = parts;
  // What is set stays in sight, even where no retry is asked for.
  const retries = form.retryMax.trim() !== '' && form.retryMax.trim() !== '0';
  const more = retries || [form.retryBackoff, form.retryMaxBackoff, form.retryExitCodes, form.retryElsewhere].some((text) => text !== '');
  return (
    <Panel title={t('policy.retry')}>
      <div className={classes.stack}>
        <div className={classes.pair}>
          <Short parts={parts} field="retryMax" label={t('editor.retryMax')} help={t('editor.retryMaxHelp')} hint="0" numeric />
        </div>
        {more && (
          <div className={classes.pair}>
            <Short parts={parts} field="retryBackoff" label={t('editor.retryBackoff')} help={t('editor.retryBackoffHelp')} hint="5s" />
            <Short parts={parts} field="retryMaxBackoff" label={t('editor.retryMaxBackoff')} help={t('editor.retryMaxBackoffHelp')} hint="5m" />
            <Short parts={parts} field="retryExitCodes" label={t('editor.retryExitCodes')} help={t('editor.retryExitCodesHelp')} />
            <Choice
              label={t('editor.retryElsewhere')} description={t('editor.retryElsewhereHelp')} value={form.retryElsewhere} error={errorAt('retryElsewhere')} otherwise="true" onChange={(retryElsewhere) => set({ retryElsewhere })}
              options={{ true: t('editor.retryElsewheres.yes'), false: t('editor.retryElsewheres.no') }}
            />
          </div>
        )}
      </div>
    </Panel>
  );
}

export function PlacementFields(parts: Props) {
  const { t } = useTranslation();
  const { form, set, errorAt } = parts;
  const workers = useWorkers();
  const known = (workers.data?.items ?? []).filter((worker) => !worker.away).slice(0, 8);
  const labels = [...new Set(known.flatMap((worker) => Object.entries(worker.labels ?? {}).map(([name, value]) => `${name}=${value}`)))].slice(0, 8);
  const names = known.map((worker) => worker.name);
  return (
    <Panel title={t('policy.placement')}>
      <div className={classes.stack}>
        <Choice
          label={t('editor.strategy')} value={form.strategy} error={errorAt('strategy')} otherwise="hash" onChange={(strategy) => set({ strategy })}
          options={{ hash: t('editor.strategies.hash'), least: t('editor.strategies.least'), weight: t('editor.strategies.weight'), any: t('editor.strategies.any') }}
        />
        <div className={`${classes.pair} ${classes.mono}`}>
          <Short parts={parts} field="selector" label={t('editor.selector')} help={t('editor.selectorHelp')} hint="zone=a,disk!=slow" />
          <Short parts={parts} field="workers" label={t('editor.workers')} help={t('editor.workersHelp')} />
        </div>
        {names.length > 0 && (
          <p className={classes.help}>
            {t('editor.knownWorkers', { items: visible(names.join(', ')) })} {labels.length > 0 && t('editor.knownLabels', { items: visible(labels.join(', ')) })}
          </p>
        )}
        <div className={classes.pair}>
          <Short parts={parts} field="priority" label={t('editor.priority')} help={t('editor.priorityHelp')} hint="5" numeric />
          <Short parts={parts} field="slots" label={t('editor.slots')} help={t('editor.slotsHelp')} hint="1" numeric />
        </div>
      </div>
    </Panel>
  );
}

export function NotifyFields(parts: Props) {
  const { t } = useTranslation();
  const { form, set, errorAt } = parts;
  const names = useChannels().data?.items.map((channel) => channel.name);
  return (
    <Panel title={t('policy.notify')}>
      <div className={classes.stack}>
        <Checkbox.Group
          label={t('editor.notifyOn')} value={form.notifyOn} error={errorAt('notifyOn')}
          onChange={(chosen) => set({ notifyOn: events.filter((event) => chosen.includes(event)) })}
        >
          <div className={classes.checks}>
            {events.map((event) => <Checkbox key={event} value={event} label={t(`editor.events.${event}`)} />)}
          </div>
        </Checkbox.Group>
        <div className={classes.mono}>
          <Short parts={parts} field="notifyTo" label={t('editor.notifyTo')} help={t('editor.notifyToHelp')} />
        </div>
        {names && (names.length > 0 ? <p className={classes.help}>{t('editor.knownChannels', { items: visible(names.join(', ')) })}</p> : <NoChannels />)}
      </div>
    </Panel>
  );
}

function NoChannels() {
  const { t } = useTranslation();
  return (
    <div>
      <p className={classes.help}>{t('editor.noChannels')}</p>
      <CopyLine>cronctl create channels -f channels.yaml</CopyLine>
    </div>
  );
}

export function HistoryFields(parts: Props) {
  const { t } = useTranslation();
  return (
    <Panel title={t('policy.retention')}>
      <div className={classes.pair}>
        <Short parts={parts} field="retentionAge" label={t('editor.retentionAge')} help={t('editor.retentionAgeHelp')} hint="30d" />
        <Short parts={parts} field="retentionRuns" label={t('editor.retentionRuns')} help={t('editor.retentionRunsHelp')} numeric />
      </div>
    </Panel>
  );
}
