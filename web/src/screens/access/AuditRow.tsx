import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEntry } from '../../api/types.ts';
import { changesOf } from '../../lib/changes.ts';
import { listed } from '../../lib/lists.ts';
import { isName } from '../../lib/names.ts';
import { visible } from '../../lib/visible.ts';
import { actorText } from '../../parts/actorText.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import classes from './access.module.css';
import { jobOf } from './auditCsv.ts';
import { distinct, fieldsOf, titleIn } from './auditGroups.ts';
import { kindText, rowVerb } from './auditWords.ts';

/** The entries of one request in a row; expanded, one by one. */
export function AuditGroup({ entries }: { entries: readonly AuditEntry[] }) {
  const { t, i18n } = useTranslation();
  const [open, setOpen] = useState(false);
  const [first, ...others] = entries;
  if (!first) return null;
  if (others.length === 0) return <AuditRow entry={first} />;
  const verbs = distinct(entries, ({ verb }) => verb);
  const kinds = distinct(entries, ({ kind }) => kind);
  const fields = [...new Set(entries.flatMap(fieldsOf))].slice(0, 8);
  return (
    <li className={classes.entry} data-group={entries.length} data-verb={first.verb} data-kind={first.kind}>
      <details onToggle={(e) => e.target === e.currentTarget && setOpen(e.currentTarget.open)}>
        <summary className={classes.summary}>
          <span className={classes.chevron}><Icon name="right" size={14} /></span>
          <TimeText at={first.at} />
          <Who entry={first} />
          <span className={classes.verb} data-verb={verbs[0]}>{listed(verbs.map((verb) => rowVerb(t, verb)), i18n.language)}</span>
          <span className="break"><span className="dim">{listed(kinds.map((kind) => kindText(t, kind)), i18n.language)}</span> <strong>{t('audit.several', { count: entries.length })}</strong>{fields.length > 0 && <> <span className="small dim" data-fields="">{visible(listed(fields, i18n.language))}</span></>}{first.actor.note && <> <span className="small dim">{visible(first.actor.note)}</span></>}</span>
          <span className="small dim nowrap">{first.actor.remote}</span>
        </summary>
        {open && <ul className={classes.entries}>{entries.map((entry) => <AuditRow key={entry.id} entry={entry} />)}</ul>}
      </details>
    </li>
  );
}

function Who({ entry: { actor } }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  return <span className="break"><strong>{actorText(t, actor.name)}</strong>{actor.user && actor.user !== actor.name && <span className="dim"> {t('audit.asUser', { user: visible(actor.user) })}</span>}</span>;
}

/** An audit entry; expanded, with the values before and after. */
function AuditRow({ entry }: { entry: AuditEntry }) {
  const { t, i18n } = useTranslation();
  const [open, setOpen] = useState(false);
  const { actor } = entry;
  const job = jobOf(entry);
  const fields = fieldsOf(entry);
  const title = titleIn(entry);
  return (
    <li className={classes.entry} data-entry={entry.id} data-verb={entry.verb} data-kind={entry.kind} data-name={entry.name}>
      <details onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary className={classes.summary}>
          <span className={classes.chevron}><Icon name="right" size={14} /></span>
          <TimeText at={entry.at} />
          <Who entry={entry} />
          <span className={classes.verb} data-verb={entry.verb}>{rowVerb(t, entry.verb)}</span>
          <span className="break"><span className="dim">{kindText(t, entry.kind)}</span> {title && <><strong>{visible(title)}</strong> </>}<span className={job === undefined && !title ? 'mono' : 'mono dim'}>{visible(entry.name)}</span>{job !== undefined && <> <span className="dim">{t('audit.ofJob')}</span> <strong className="mono">{visible(job)}</strong></>}{fields.length > 0 && <> <span className="small dim" data-fields="">{visible(listed(fields, i18n.language))}</span></>}</span>
          <span className="small dim nowrap">{actor.remote}</span>
        </summary>
        {open && <Details entry={entry} />}
      </details>
    </li>
  );
}

/** A link to the page of what was changed, if it has one. */
function Subject({ entry: { kind, name } }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  const text = `${kindText(t, kind)} ${visible(name)}`;
  switch (kind) {
    case 'run': return <Link to="/runs/$id" params={{ id: name }}>{t('jobs.openRun')}</Link>;
    case 'worker': return <Link to="/workers/$id" params={{ id: name }}>{text}</Link>;
    case 'channel': return <Link to="/notifications" search={{ tab: 'deliveries', channel: name }}>{text}</Link>;
    case 'pool': return <Link to="/pools" search={{ pool: name }}>{text}</Link>;
    case 'secret': return <Link to="/secrets">{text}</Link>;
    case 'maintenance': return <Link to="/maintenance">{text}</Link>;
    case 'lock': return <Link to="/locks">{text}</Link>;
    case 'user': return <Link to="/access">{text}</Link>;
    case 'token': return <Link to="/access" search={{ tab: 'tokens' }}>{text}</Link>;
    default: return null;
  }
}

function Details({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  const { actor } = entry;
  const changes = changesOf(entry.before, entry.after);
  const job = entry.kind === 'job' ? entry.name : jobOf(entry);
  return (
    <div className={classes.details}>
      <span className="spaced small dim">
        {actor.remote && <span>{t('audit.from', { address: actor.remote })}</span>}
        {actor.token && <span>{t('audit.byToken', { id: actor.token })}</span>}
        <span>{entry.seq === undefined ? t('audit.unsealed') : t('audit.seq', { seq: entry.seq })}</span>
        {entry.hash && <span className="break">{t('audit.hash')} <code>{entry.hash}</code></span>}
        {job !== undefined && isName(job) && <Link to="/jobs/$name" params={{ name: job }}>{visible(job)}</Link>}
        <Subject entry={entry} />
      </span>
      {actor.note && <span><Filled text={t('audit.noteSaid', { note: slot })}><PlainText>{actor.note}</PlainText></Filled></span>}
      {changes.length === 0 ? (
        <span className="dim">{t('audit.nothing')}</span>
      ) : (
        <table className={classes.changes}>
          <caption className="unseen">{t('audit.changes')}</caption>
          <thead>
            <tr><th scope="col">{t('audit.field')}</th><th scope="col">{t('audit.before')}</th><th scope="col">{t('audit.after')}</th></tr>
          </thead>
          <tbody>
            {changes.map((change) => (
              <tr key={change.path}>
                <td><code>{visible(change.path)}</code></td>
                <td className={classes.old}>{change.before !== undefined && visible(change.before)}</td>
                <td className={classes.now}>{change.after !== undefined && visible(change.after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
