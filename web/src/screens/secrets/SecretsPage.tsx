import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSecrets } from '../../api/secrets.ts';
import type { Secret } from '../../api/types.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useCan, useSession } from '../../parts/session.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { DeleteSecret } from './DeleteSecret.tsx';
import { secretColumns } from './secretColumns.tsx';
import { SecretDialog } from './SecretDialog.tsx';
import { SecretUse } from './SecretUse.tsx';
import classes from './secrets.module.css';

/** The secrets of the user's groups, without their values. */
export function SecretsPage() {
  const { t } = useTranslation();
  const sees = useCan('editor');
  return (
    <>
      <PageHead title={t('secrets.title')} name={t('secrets.title')} />
      {sees ? <SecretList /> : <EmptyPage icon="lock" title={t('secrets.deniedTitle')}><p>{t('secrets.denied')}</p></EmptyPage>}
    </>
  );
}

function SecretList() {
  const { t } = useTranslation();
  const me = useSession();
  const keeps = useCan('admin');
  const secrets = useSecrets(true);
  const [editing, setEditing] = useState<Secret | 'new' | undefined>();
  const [deleting, setDeleting] = useState<Secret | undefined>();
  // The secret whose jobs are shown.
  const [open, setOpen] = useState<string | undefined>();
  const columns = useMemo(
    () => secretColumns(t, { me, open, onToggle: (name) => setOpen((before) => (before === name ? undefined : name)), onEdit: setEditing, onDelete: setDeleting }),
    [t, me, open],
  );
  const rows = secrets.data?.items;
  const create = keeps && <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEditing('new')}>{t('secrets.new')}</Button>;
  return (
    <>
      {secrets.error && !rows && <ProblemNotice error={secrets.error} onRetry={() => void secrets.refetch()} />}
      {!rows && !secrets.error && <Waiting rows={4} />}
      {rows?.length === 0 && (
        <EmptyPage icon="lock" title={t('secrets.emptyTitle')}>
          <p>{t('secrets.emptyText')}</p>
          {create || <p className="dim">{t('secrets.emptyAsk')}</p>}
        </EmptyPage>
      )}
      {rows && rows.length > 0 && (
        <>
          <div className={classes.toolbar}>
            <p className="small dim">{t('secrets.intro')}</p>
            <span className={classes.end}>{create}</span>
          </div>
          <DataTable cards caption={t('secrets.table')} columns={columns} rows={rows} rowId={({ name }) => name} below={({ name }) => (name === open ? <div className={classes.below}><SecretUse name={name} /></div> : undefined)} />
        </>
      )}
      {editing && <SecretDialog secret={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {deleting && <DeleteSecret secret={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}
