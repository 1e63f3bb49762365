import { Button } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefaults } from '../../api/defaults.ts';
import type { JobDefaults } from '../../api/types.ts';
import { fieldsOf } from '../../lib/defaultsReview.ts';
import { allGroups } from '../../lib/groups.ts';
import { visible } from '../../lib/visible.ts';
import { column, DataTable, type Columns } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { originText } from '../../parts/FromDefaults.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useRights } from '../../parts/session.ts';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { fieldText } from './fieldText.ts';
import { GroupDefaults } from './GroupDefaults.tsx';
import { NewDefaults } from './NewDefaults.tsx';

/** The defaults of all jobs and of groups; with a group in the address, those of that group. */
export function DefaultsPage() {
  const { group } = useSearch({ from: '/defaults' });
  return group === undefined ? <DefaultsList /> : <GroupDefaults key={group} group={group} />;
}

function DefaultsList() {
  const { t, i18n } = useTranslation();
  const may = useRights();
  const defaults = useDefaults();
  const [making, setMaking] = useState(false);
  const columns = useMemo((): Columns<JobDefaults> => [
    column<JobDefaults>('group', t('defaults.group'), ({ group }) => <Link to="/defaults" search={{ group }} className="break"><strong>{group === allGroups ? t('defaults.allJobs') : visible(group)}</strong></Link>),
    column<JobDefaults>('sets', t('defaults.sets'), (one) => <>{fieldsOf(one).map((field) => fieldText(t, field)).join(i18n.language === 'zh' ? '、' : ', ')}</>),
    column<JobDefaults>('updated', t('defaults.updated'), ({ updatedAt, updatedBy }) => <>{updatedAt && <TimeText at={updatedAt} />} {updatedBy && <span className="dim"><PlainText>{updatedBy}</PlainText></span>}</>),
    column<JobDefaults>('actions', t('common.actions'), ({ group }) => may('editor', group === allGroups ? '' : group) && (
      <Button size="compact-sm" variant="subtle" aria-label={`${t('defaults.edit')}: ${originText(t, group)}`} renderRoot={(props) => <Link to="/defaults/edit" search={{ group }} {...props} />}>{t('defaults.edit')}</Button>
    )),
  ], [t, i18n.language, may]);
  const rows = defaults.data?.items;
  const create = may('editor') && <Button onClick={() => setMaking(true)}>{t('defaults.new')}</Button>;
  return (
    <>
      <PageHead title={t('defaults.title')} name={t('defaults.title')}>{rows && rows.length > 0 && create}</PageHead>
      {defaults.error && !rows && <ProblemNotice error={defaults.error} onRetry={() => void defaults.refetch()} />}
      {!rows && !defaults.error && <Waiting rows={4} />}
      {rows?.length === 0 && (
        <EmptyPage icon="inherit" title={t('defaults.emptyTitle')}>
          <p>{t('defaults.emptyText')}</p>
          {create}
        </EmptyPage>
      )}
      {rows && rows.length > 0 && (
        <>
          <p className="small dim">{t('defaults.intro')}</p>
          <DataTable cards caption={t('defaults.table')} columns={columns} rows={rows} rowId={({ group }) => group} />
        </>
      )}
      {making && <NewDefaults existing={rows ?? []} onClose={() => setMaking(false)} />}
    </>
  );
}
