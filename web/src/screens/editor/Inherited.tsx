import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { events } from '../../api/jobs.ts';
import { optOuts, optsOut, type OptOutField } from '../../lib/effective.ts';
import { listed, sentences } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { originText } from '../../parts/FromDefaults.tsx';
import { useForm } from './context.ts';
import { valueAt } from './document/paths.ts';
import classes from './fields.module.css';

/** From which defaults the settings of a field are inherited, with a way to opt out of them, and back. */
export function Inherited({ field }: { field: OptOutField | 'retention' }) {
  const { t, i18n } = useTranslation();
  const { doc, definition, whole } = useForm();
  const from = whole.from.get(field);
  if (from === undefined) {
    if (field === 'retention' || !optsOut(field, valueAt(definition, [field]))) return null;
    return (
      <div className={classes.inherited} data-opted-out={field}>
        <p>{t(`inherits.optedOut.${field}`)}</p>
        <Button size="xs" variant="default" onClick={() => doc.set([field], undefined)}>{t('inherits.inherit')}</Button>
      </div>
    );
  }
  const { to, on } = (field === 'notify' && whole.job.notify) || {};
  const notified = to && to.length > 0 && on && t('inherits.notify', { to: visible(listed(to, i18n.language)), events: listed(events.filter((event) => on.includes(event)).map((event) => t(`policy.event.${event}`)), i18n.language) });
  return (
    <div className={classes.inherited} data-inherited={field}>
      <p>
        <Filled text={t('inherits.note', { from: slot })}>
          {/* In another tab, so that the draft stays open. */}
          <a href={`/defaults?group=${encodeURIComponent(from)}`} target="_blank" rel="noreferrer">{originText(t, from)}</a>
        </Filled>{' '}
        {sentences([notified, field !== 'timeout' && t('inherits.whole')], i18n.language)}
      </p>
      {field !== 'retention' && <Button size="xs" variant="default" onClick={() => doc.set([field], optOuts[field])}>{t(`inherits.optOut.${field}`)}</Button>}
    </div>
  );
}

/** The variables that are inherited, each with its origin. A row of the same name takes precedence. */
export function InheritedVariables() {
  const { t } = useTranslation();
  const { whole } = useForm();
  const names = [...whole.from].flatMap(([location, from]) => (location.startsWith('env.') ? [{ name: location.slice('env.'.length), from }] : []));
  if (names.length === 0) return null;
  return (
    <ul className={classes.inheritedNames} aria-label={t('inherits.variables')} data-inherited="env">
      {names.map(({ name, from }) => (
        <li key={name}><code className="break">{visible(`${name}=${String(valueAt(whole.job, ['env', name]) ?? '')}`)}</code> <span className="dim">{t('origin.from', { from: originText(t, from) })}</span></li>
      ))}
    </ul>
  );
}
