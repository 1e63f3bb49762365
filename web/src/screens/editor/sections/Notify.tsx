import { Checkbox } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useChannels } from '../../../api/channels.ts';
import { events } from '../../../api/jobs.ts';
import { CopyLine } from '../../../parts/CopyLine.tsx';
import { useField } from '../context.ts';
import classes from '../fields.module.css';
import { Fold } from '../Fold.tsx';
import { useTexts, Words } from '../inputs.tsx';

export function Notify() {
  const { t } = useTranslation();
  return (
    <Fold id="notify" title={t('policy.notify')} fields={['notify.on', 'notify.to']}>
      <div className={classes.stack}>
        <Told />
        <Channels />
      </div>
    </Fold>
  );
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

function Channels() {
  const { t } = useTranslation();
  const names = useChannels().data?.items.map((channel) => channel.name);
  return (
    <div>
      <Words path={['notify', 'to']} known={names ?? []} />
      {names?.length === 0 && (
        <>
          <p className={classes.help}>{t('editor.noChannels')}</p>
          <CopyLine>cronctl create channels -f channels.yaml</CopyLine>
        </>
      )}
    </div>
  );
}
