import { ActionIcon, Button, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import type { User } from '../../api/types.ts';
import { useChangeUser, useFreshUser, useUsers } from '../../api/users.ts';
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
import { Grants } from './Grants.tsx';
import { UserDialog } from './UserDialog.tsx';

export function UsersPanel() {
  const { t } = useTranslation();
  const me = useSession();
  const pages = useCursorPages('users');
  const users = useUsers(pages.cursor);
  const [editing, setEditing] = useState<User | 'new' | undefined>();
  const [deleting, setDeleting] = useState<User | undefined>();
  const fresh = useFreshUser();
  const { mutate: read } = fresh;
  const columns = useMemo((): Columns<User> => [
    column<User>('name', t('users.name'), (user) => (
      <>
        <span className="spaced">
          <strong className="break">{visible(user.name)}</strong>
          {user.name === me.user && <span className="small dim">{t('users.you')}</span>}
        </span>
        {user.title && <div className="small dim"><PlainText>{user.title}</PlainText></div>}
      </>
    )),
    column<User>('may', t('users.roles'), (user) => <Grants role={user.role} groups={user.groups} />),
    column<User>('login', t('users.login'), (user) => (user.disabled ? <strong>{t('users.disabled')}</strong> : user.hasPassword ? t('users.byPassword') : <span className="dim">{t('users.noPassword')}</span>), false),
    column<User>('created', t('users.created'), (user) => <><RelativeTime at={user.createdAt} /> <span className="small dim">{t('access.by', { who: actorText(t, user.createdBy ?? '') })}</span></>, false),
    column<User>('actions', t('common.actions'), (user) => <UserActions user={user} onEdit={() => read(user.name, { onSuccess: setEditing })} onDelete={() => read(user.name, { onSuccess: setDeleting })} />),
  ], [t, me.user, read]);
  const rows = users.data?.items;
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEditing('new')}>{t('users.new')}</Button>
  );
  return (
    <>
      {users.error && !rows && <ProblemNotice error={users.error} onRetry={() => void users.refetch()} />}
      {fresh.error && <ProblemNotice error={fresh.error} />}
      {!rows && !users.error && <Waiting rows={4} />}
      {rows?.length === 0 && pages.page === 1 && <EmptyPage icon="user" title={t('users.emptyTitle')}><p>{t('users.emptyText')}</p>{create}</EmptyPage>}
      {rows && rows.length > 0 && (
        <>
          <div className={classes.toolbar}><span className={classes.end}>{create}</span></div>
          <DataTable cards caption={t('users.table')} columns={columns} rows={rows} rowId={(user) => user.name} busy={users.isPlaceholderData} />
          <Pager pages={pages} nextCursor={users.data?.nextCursor} />
        </>
      )}
      {editing && <UserDialog user={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {deleting && <DeleteUser user={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

function UserActions({ user, onEdit, onDelete }: { user: User; onEdit: () => void; onDelete: () => void }) {
  const { t } = useTranslation();
  return (
    <div className={classes.actions}>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('users.actionsFor', { name: visible(user.name) })}><Icon name="dots" /></ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="pencil" size={16} />} onClick={onEdit}>{t('users.edit')}</Menu.Item>
          <Menu.Item leftSection={<Icon name="copy" size={16} />} renderRoot={(props) => <Link to="/access" search={{ tab: 'tokens', user: user.name }} {...props} />}>{t('users.tokensOf')}</Menu.Item>
          <Menu.Item leftSection={<Icon name="clock" size={16} />} renderRoot={(props) => <Link to="/access" search={{ tab: 'audit', actor: user.name }} {...props} />}>{t('users.auditOf')}</Menu.Item>
          <Menu.Item color="red" leftSection={<Icon name="trash" size={16} />} onClick={onDelete}>{t('users.delete')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

function DeleteUser({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation();
  const change = useChangeUser();
  const name = visible(user.name);
  const confirm = () =>
    change.mutate({ act: 'delete', user }, {
      onSuccess: () => {
        showNotice(t, t('users.deleted', { name }));
        onClose();
      },
    });
  const stale = change.error instanceof Problem && change.error.code === 'stale';
  return (
    <ConfirmDialog title={t('users.deleteTitle', { name })} confirm={t('users.deleteConfirm')} busy={change.isPending} error={stale ? null : change.error} onConfirm={confirm} onCancel={onClose}>
      <p>{t('users.deleteText')}</p>
      {stale && <p role="alert">{t('users.stale')}</p>}
    </ConfirmDialog>
  );
}
