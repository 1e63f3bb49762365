import { Button, NativeSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAudit } from '../../api/audit.ts';
import { useActorNames, useObjectNames } from '../../api/names.ts';
import type { AccessSearch } from '../../lib/searchParams.ts';
import { visible } from '../../lib/visible.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { PickField } from '../../parts/PickField.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { WhenField } from '../../parts/WhenField.tsx';
import classes from './access.module.css';
import { AuditExport } from './AuditExport.tsx';
import { groupsOf } from './auditGroups.ts';
import { AuditGroup } from './AuditRow.tsx';
import { auditKinds, auditVerbs, kindText, verbText } from './auditWords.ts';
import { VerifyChain } from './VerifyChain.tsx';

type Filter = Pick<AccessSearch, 'actor' | 'kind' | 'name' | 'verb' | 'from' | 'to'>;

/** The audit, filtered by the address. */
export function AuditPanel() {
  const { t } = useTranslation();
  const { actor, kind, name, verb, from, to } = useSearch({ from: '/access' });
  const filter: Filter = { actor, kind, name, verb, from, to };
  const navigate = useNavigate();
  const pages = useCursorPages(JSON.stringify(filter));
  const audit = useAudit(filter, pages.cursor);
  const show = (next: Filter) => {
    const set = Object.entries({ ...filter, ...next }).filter(([, value]) => value !== undefined && value !== '');
    void navigate({ to: '/access', search: { tab: 'audit', ...Object.fromEntries(set) }, replace: true });
  };
  const clear = () => void navigate({ to: '/access', search: { tab: 'audit' }, replace: true });
  const filtered = Object.values(filter).some((value) => value !== undefined);
  const rows = audit.data?.items;
  const actors = useActorNames();
  const [text, setText] = useState(name ?? '');
  const [asked] = useDebouncedValue(text, 150);
  const objects = useObjectNames(kind, asked);
  const none = (typed: string) => t('audit.noName', { text: typed });
  // Entries outlive what they are about, and some have names that are listed nowhere.
  const asName = (typed: string) => t('audit.asName', { name: visible(typed) });
  return (
    <>
      <div className={classes.toolbar}>
        <PickField label={t('audit.actor')} value={actor ?? ''} choices={actors.map((one) => ({ name: one }))} settled none={none} asName={asName} onChange={(next) => show({ actor: next })} />
        <PickField second label={t('audit.object')} value={name ?? ''} choices={objects.map((one) => ({ name: one }))} settled={asked === text} onText={setText} none={none} asName={asName} onChange={(next) => show({ name: next })} />
        <NativeSelect
          aria-label={t('audit.kind')} value={kind ?? ''} data={[{ value: '', label: t('audit.anyKind') }, ...auditKinds.map((value) => ({ value, label: kindText(t, value) }))]}
          onChange={(e) => show({ kind: e.currentTarget.value })}
        />
        <NativeSelect
          aria-label={t('audit.verb')} value={verb ?? ''} data={[{ value: '', label: t('audit.anyVerb') }, ...auditVerbs.map((value) => ({ value, label: verbText(t, value) }))]}
          onChange={(e) => show({ verb: e.currentTarget.value })}
        />
        <div className={classes.stretch}>
          <label className={classes.time}>
            <span className="small dim">{t('audit.fromTime')}</span>
            <WhenField value={from} onChange={(at) => show({ from: at })} />
          </label>
          <label className={classes.time}>
            <span className="small dim">{t('audit.toTime')}</span>
            <WhenField value={to} onChange={(at) => show({ to: at })} />
          </label>
        </div>
        <span className={classes.end}><AuditExport filter={filter} /><VerifyChain /></span>
      </div>
      {audit.data?.partial && <PartialNotice />}
      {audit.error && !rows && <ProblemNotice error={audit.error} onRetry={() => void audit.refetch()} />}
      {!rows && !audit.error && <Waiting rows={8} />}
      {rows?.length === 0 && pages.page === 1 && (
        filtered ? (
          <EmptyPage icon="search" title={t('audit.noMatch')}>{(actor ?? name) !== undefined && <p>{t('audit.whole')}</p>}<Button variant="default" onClick={clear}>{t('audit.clear')}</Button></EmptyPage>
        ) : (
          <EmptyPage icon="clock" title={t('audit.emptyTitle')}><p>{t('audit.emptyText')}</p></EmptyPage>
        )
      )}
      {rows && rows.length > 0 && <ul className={classes.entries} aria-label={t('audit.table')} aria-busy={audit.isPlaceholderData}>{groupsOf(rows).map((group) => <AuditGroup key={group[0]?.id} entries={group} />)}</ul>}
      {rows && <Pager pages={pages} nextCursor={audit.data?.nextCursor} />}
    </>
  );
}
