import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDeleteToken, useTokens } from '../../api/tokens.ts';
import type { Token } from '../../api/types.ts';
import { actorText } from '../../parts/actorText.ts';
import { useSession } from '../../parts/session.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { column, DataTable, type Columns } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './access.module.css';
import { RoleBadge } from './RoleBadge.tsx';
import { TokenDialog } from './TokenDialog.tsx';

interface Props {
  /** Only the tokens of this user. */
  user: string | undefined;
  onAll?: () => void;
  /** Shows the owner of each token. */
  allUsers?: boolean;
  /** The address asks for a new token. */
  asked?: boolean;
  onAnswered?: () => void;
}

export function TokensPanel({ user = '', onAll, allUsers = false, asked = false, onAnswered }: Props) {
  const { t } = useTranslation();
  const me = useSession();
  const pages = useCursorPages(user);
  const tokens = useTokens(user, pages.cursor);
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Token | undefined>();
  const columns = useMemo((): Columns<Token> => {
    const none = <span className="dim">{t('common.none')}</span>;
    return [
      column<Token>('name', t('tokens.name'), (token) => (
        <>
          <strong className="break"><PlainText>{token.name}</PlainText></strong>
          <div className="small dim"><code>{token.id}</code></div>
        </>
      )),
      ...(allUsers ? [column<Token>('owner', t('tokens.owner'), (token) => (token.user ? <span className="break">{visible(token.user)}</span> : <span className="dim">{t('tokens.noUser')}</span>))] : []),
      column<Token>('may', t('tokens.may'), (token) => (
        <span className="spaced"><RoleBadge role={token.role} />{token.groups?.map((group) => <code key={group}>{visible(group)}</code>)}</span>
      ), false),
      column<Token>('used', t('tokens.lastUsed'), (token) =>
        token.lastUsedAt ? (
          <>
            <RelativeTime at={token.lastUsedAt} />
            {token.lastUsedFrom && <div className="small dim">{t('tokens.from', { address: token.lastUsedFrom })}</div>}
          </>
        ) : <span className="dim">{t('tokens.unused')}</span>),
      column<Token>('expires', t('tokens.expires'), (token) => (token.expired ? <strong>{t('tokens.expired')}</strong> : token.expiresAt ? <RelativeTime at={token.expiresAt} /> : t('access.never')), false),
      column<Token>('created', t('tokens.created'), (token) => (token.createdAt ? <><RelativeTime at={token.createdAt} /> <span className="small dim">{t('access.by', { who: actorText(t, token.createdBy ?? '') })}</span></> : none), false),
      column<Token>('actions', t('common.actions'), (token) => (
        <div className={classes.actions}>
          <Button size="xs" variant="subtle" color="red" aria-label={t('tokens.deleteOf', { name: visible(token.name) })} onClick={() => setRevoking(token)}>{t('tokens.delete')}</Button>
        </div>
      )),
    ];
  }, [t, allUsers]);
  const rows = tokens.data?.items;
  const fresh = me.session && <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setMaking(true)}>{t('tokens.new')}</Button>;
  return (
    <>
      {tokens.error && !rows && <ProblemNotice error={tokens.error} onRetry={() => void tokens.refetch()} />}
      {!rows && !tokens.error && <Waiting rows={4} />}
      {rows && (rows.length > 0 || user !== '') && (
        <div className={classes.toolbar}>
          {onAll && user !== '' && (
            <>
              <span>{t('tokens.filter', { user: visible(user) })}</span>
              <Button variant="default" size="xs" onClick={onAll}>{t('tokens.allUsers')}</Button>
            </>
          )}
          <span className={classes.end}>{fresh}</span>
        </div>
      )}
      {rows?.length === 0 && pages.page === 1 && <EmptyPage icon="user" title={t('tokens.emptyTitle')}><p>{t('tokens.emptyText')}</p>{user === '' && fresh}</EmptyPage>}
      {rows && rows.length > 0 && (
        <>
          <DataTable cards caption={t('tokens.table')} columns={columns} rows={rows} rowId={(token) => token.id} busy={tokens.isPlaceholderData} />
          <Pager pages={pages} nextCursor={tokens.data?.nextCursor} />
        </>
      )}
      {(making || (asked && me.session)) && (
        <TokenDialog
          user={user} choosesUser={allUsers}
          onClose={() => {
            setMaking(false);
            onAnswered?.();
          }}
        />
      )}
      {revoking && <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  );
}

function RevokeToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const { t } = useTranslation();
  const revoke = useDeleteToken();
  const name = visible(token.name);
  const confirm = () =>
    revoke.mutate(token.id, {
      onSuccess: () => {
        showNotice(t, t('tokens.deleted', { name }));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('tokens.deleteTitle', { name })} confirm={t('tokens.deleteConfirm')} busy={revoke.isPending} error={revoke.error} onConfirm={confirm} onCancel={onClose}>
      <p>{t('tokens.deleteText')}</p>
    </ConfirmDialog>
  );
}
