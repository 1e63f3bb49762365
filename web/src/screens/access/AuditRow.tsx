import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEntry } from '../../api/types.ts';
import { changesOf } from '../../lib/changes.ts';
import { isName } from '../../lib/names.ts';
import { visible } from '../../lib/visible.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import classes from './access.module.css';
import { jobOf } from './auditCsv.ts';
import { kindText, verbText } from './auditWords.ts';

/** An audit entry; expanded, with the values before and after. */
export function AuditRow({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const { actor } = entry;
  const job = jobOf(entry);
  return (
    <li className={classes.entry} data-entry={entry.id} data-verb={entry.verb} data-kind={entry.kind} data-name={entry.name}>
      <details onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary className={classes.summary}>
          <span className={classes.chevron}><Icon name="right" size={14} /></span>
          <TimeText at={entry.at} />
          <span className="break"><strong>{visible(actor.name)}</strong>{actor.user && actor.user !== actor.name && <span className="dim"> {t('audit.asUser', { user: visible(actor.user) })}</span>}</span>
          <span className={classes.verb} data-verb={entry.verb}>{verbText(t, entry.verb)}</span>
          <span className="break"><span className="dim">{kindText(t, entry.kind)}</span> <span className={job === undefined ? 'mono' : 'mono dim'}>{visible(entry.name)}</span>{job !== undefined && <> <span className="dim">{t('audit.ofJob')}</span> <strong className="mono">{visible(job)}</strong></>}</span>
          <span className="small dim nowrap">{actor.remote}</span>
        </summary>
        {open && <Details entry={entry} />}
      </details>
    </li>
  );
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
        {entry.kind === 'run' && <Link to="/runs/$id" params={{ id: entry.name }}>{t('jobs.openRun')}</Link>}
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
