import { Button, Checkbox, Switch, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChannels, useTestChannel } from '../../../api/channels.ts';
import { events } from '../../../api/jobs.ts';
import { visible } from '../../../lib/visible.ts';
import { ChannelDialog } from '../../../parts/ChannelDialog.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { NamesField } from '../../../parts/NamesField.tsx';
import { useSession } from '../../../parts/session.ts';
import { TestButton, TestResult } from '../../../parts/TestChannel.tsx';
import { useField, useForm } from '../context.ts';
import { stepsIn, textOfSteps } from '../escalation.ts';
import classes from '../fields.module.css';
import { Fold } from '../Fold.tsx';
import { Inherited } from '../Inherited.tsx';
import { Text, useTexts } from '../inputs.tsx';

// Chosen with the first channel, unless events are chosen already.
const usual = ['failed', 'missed', 'lost'];

export function Notify() {
  const { t } = useTranslation();
  return (
    <Fold id="notify" title={t('policy.notify')} fields={['notify.on', 'notify.to', 'notify.after', 'notify.quiet.from', 'notify.quiet.to', 'notify.quiet.timezone', 'notify.urgent']}>
      <div className={classes.stack}>
        <Inherited field="notify" />
        <Channels />
        <Told />
        <After />
        <div className={classes.pair}>
          <Text path={['notify', 'quiet', 'from']} />
          <Text path={['notify', 'quiet', 'to']} />
        </div>
        <Text path={['notify', 'quiet', 'timezone']} />
        <Urgent />
      </div>
    </Fold>
  );
}

/** The steps of an escalation, one per line: how long the trouble has lasted, and the channels. */
function After() {
  const { id, value, error, set } = useField(['notify', 'after']);
  const { label, description } = useTexts(['notify', 'after']);
  const [draft, setDraft] = useState('');
  const stored = value ?? {};
  const text = JSON.stringify(stepsIn(draft)) === JSON.stringify(stored) ? draft : textOfSteps(stored);
  return (
    <Textarea
      id={id} className={classes.mono} label={label} description={description} value={text} error={error} autosize minRows={1} maxRows={5} spellCheck={false} autoCapitalize="none"
      onChange={(e) => {
        setDraft(e.currentTarget.value);
        const steps = stepsIn(e.currentTarget.value);
        set(Object.keys(steps).length > 0 ? steps : undefined);
      }}
    />
  );
}

function Urgent() {
  const { id, value, error, set } = useField(['notify', 'urgent']);
  const { label, description } = useTexts(['notify', 'urgent']);
  return <Switch id={id} label={label} description={description} checked={value === true} error={error} onChange={(e) => set(e.currentTarget.checked || undefined)} />;
}

function Told() {
  const { t } = useTranslation();
  const { id, value, error, set } = useField(['notify', 'on']);
  const { label, description } = useTexts(['notify', 'on']);
  const on = Array.isArray(value) ? value.map(String) : [];
  return (
    <Checkbox.Group
      id={id} label={label} description={description} value={on} error={error}
      onChange={(chosen) => {
        const next = [...events.filter((event) => chosen.includes(event)), ...chosen.filter((event) => !(events as readonly string[]).includes(event))];
        set(next.length > 0 ? next : undefined);
      }}
    >
      <div className={classes.checks}>{events.map((event) => <Checkbox key={event} value={event} label={t(`editor.events.${event}`)} />)}</div>
    </Checkbox.Group>
  );
}

/** The channels of the job as chips; admins create and test channels here, and keep their draft. */
function Channels() {
  const { t } = useTranslation();
  const { doc, definition } = useForm();
  const { id, value, error, warning, set } = useField(['notify', 'to']);
  const { label, description } = useTexts(['notify', 'to']);
  const admin = useSession().role === 'admin';
  const channels = useChannels().data?.items;
  const [making, setMaking] = useState(false);
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const choose = (names: string[]) => {
    if (names.length === 0) return set(undefined);
    if (chosen.length > 0 || (definition.notify?.on ?? []).length > 0) return set(names);
    doc.setAll([[['notify', 'to'], names], [['notify', 'on'], usual]]);
  };
  return (
    <div>
      <NamesField id={id} label={label} description={description} known={(channels ?? []).map(({ name }) => name)} value={chosen} error={error} nothing={t(channels?.length === 0 ? 'editor.noChannels' : 'editor.noSuchChannel')} onChange={choose} />
      {warning && <p className={classes.warning}>{warning}</p>}
      {channels?.length === 0 && !admin && <p className={classes.help}>{t('editor.noChannelsAsk')}</p>}
      {admin && (
        <>
          <ul className={classes.channels}>
            {channels?.filter(({ name }) => chosen.includes(name)).map(({ name }) => <ChosenChannel key={name} name={name} />)}
          </ul>
          <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => setMaking(true)}>{t('channels.newEllipsis')}</Button>
        </>
      )}
      {making && (
        // Events of the dialog are not for the form of the job, which is above it in React's tree.
        <div onSubmit={(e) => e.stopPropagation()} onKeyDown={(e) => e.stopPropagation()} onPaste={(e) => e.stopPropagation()}>
          <ChannelDialog onSaved={({ name }) => choose([...new Set([...chosen, name])])} onClose={() => setMaking(false)} />
        </div>
      )}
    </div>
  );
}

function ChosenChannel({ name }: { name: string }) {
  const test = useTestChannel();
  return (
    <li>
      <code className="break">{visible(name)}</code>
      <TestButton compact name={name} test={test} />
      <TestResult test={test} />
    </li>
  );
}
