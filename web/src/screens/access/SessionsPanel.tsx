import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEndSession, useSessions } from '../../api/sessions.ts';
import type { LoginSession } from '../../api/types.ts';
import { useSession } from '../../parts/session.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { column, DataTable, type Columns } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './access.module.css';

/** Login sessions: all for admins, else the user's own. */
export function SessionsPanel({ allUsers = false }: { allUsers?: boolean }) {
  const { t } = useTranslation();
  const me = useSession();
  const pages = useCursorPages('sessions');
  const sessions = useSessions(pages.cursor);
  const [ending, setEnding] = useState<LoginSession | undefined>();
  const columns = useMemo((): Columns<LoginSession> => [
    column<LoginSession>('who', t('sessions.who'), (session) => (
      <>
        <span className="spaced">
          <strong className="break">{visible(session.name)}</strong>
          {session.current && <span className={classes.role} data-role="editor">{t('sessions.current')}</span>}
        </span>
        {session.token && <div className="small dim">{t('sessions.byToken', { id: session.token })}</div>}
      </>
    )),
    column<LoginSession>('from', t('sessions.from'), (session) => session.remote || <span className="dim">{t('common.none')}</span>),
    column<LoginSession>('begun', t('sessions.begun'), (session) => <RelativeTime at={session.createdAt} />),
    column<LoginSession>('ends', t('sessions.ends'), (session) => (session.expiresAt ? <RelativeTime at={session.expiresAt} /> : <span className="dim">{t('common.none')}</span>), false),
    column<LoginSession>('actions', t('common.actions'), (session) => (
      <div className={classes.actions}>
        <Button size="xs" variant="subtle" color="red" aria-label={t('sessions.endOf', { name: visible(session.name), address: session.remote ?? '' })} onClick={() => setEnding(session)}>{t('sessions.end')}</Button>
      </div>
    )),
  ], [t]);
  // Admins receive all sessions from every endpoint.
  const own = (session: LoginSession) => session.current === true || (me.user !== undefined && session.user === me.user);
  const rows = allUsers ? sessions.data?.items : sessions.data?.items.filter(own);
  return (
    <>
      {sessions.error && !rows && <ProblemNotice error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {!rows && !sessions.error && <Waiting rows={3} />}
      {rows?.length === 0 && pages.page === 1 && !sessions.data?.nextCursor && <EmptyPage icon="user" title={t('sessions.emptyTitle')} />}
      {rows && rows.length > 0 && <DataTable cards caption={t('sessions.table')} columns={columns} rows={rows} rowId={(session) => session.id} busy={sessions.isPlaceholderData} />}
      {rows && <Pager pages={pages} nextCursor={sessions.data?.nextCursor} />}
      <p className="small dim">{t('sessions.help')}</p>
      {ending && <EndSession session={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

function EndSession({ session, onClose }: { session: LoginSession; onClose: () => void }) {
  const { t } = useTranslation();
  const end = useEndSession();
  const confirm = () =>
    end.mutate(session.id, {
      onSuccess: () => {
        showNotice(t, t('sessions.ended'));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('sessions.endTitle', { name: visible(session.name) })} confirm={t('sessions.endConfirm')} busy={end.isPending} error={end.error} onConfirm={confirm} onCancel={onClose}>
      <p>{t('sessions.endText')}</p>
      {session.current && <p><strong>{t('sessions.endOwn')}</strong></p>}
    </ConfirmDialog>
  );
}
