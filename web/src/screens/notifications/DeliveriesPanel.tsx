import { Button, NativeSelect } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { deliveryStatuses, useChannels, useDeliveries, useRetryDelivery } from '../../api/channels.ts';
import { useJobs } from '../../api/jobs.ts';
import type { DeliveryStatus } from '../../api/types.ts';
import type { NotificationSearch } from '../../lib/searchParams.ts';
import { visible } from '../../lib/visible.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { JobField } from '../../parts/JobField.tsx';
import { NoSuchJob } from '../../parts/NoSuchJob.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useSession } from '../../parts/session.ts';
import { showFailure } from '../../parts/showFailure.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { deliveryColumns, jobsIn } from './deliveryColumns.tsx';
import classes from './notifications.module.css';
import { queuedBehind } from './queue.ts';

// Each is a request; jobs of a page are few as a rule.
const mostTitles = 50;

/** What was sent, or is to be sent, to which channel. */
export function DeliveriesPanel() {
  const { t, i18n } = useTranslation();
  const admin = useSession().role === 'admin';
  const { channel, status, job } = useSearch({ from: '/notifications' });
  const navigate = useNavigate();
  const filter = { channel, status, job };
  const pages = useCursorPages(JSON.stringify(filter));
  const deliveries = useDeliveries(filter, pages.cursor);
  const known = useChannels().data?.items.map(({ name }) => name) ?? [];
  const names = channel === undefined || known.includes(channel) ? known : [channel, ...known];
  const { mutate: retry, isPending, variables } = useRetryDelivery();
  const set = (part: Partial<NotificationSearch>) => void navigate({ to: '/notifications', search: { tab: 'deliveries', ...filter, ...part }, replace: true });
  const rows = deliveries.data?.items;
  const titles = useJobs(rows ? jobsIn(rows).slice(0, mostTitles) : []);
  const retrying = isPending ? variables : undefined;
  const behind = useMemo(() => queuedBehind(rows ?? [], deliveries.dataUpdatedAt), [rows, deliveries.dataUpdatedAt]);
  const columns = useMemo(
    () =>
      deliveryColumns(t, {
        admin, retrying, behind, titles, language: i18n.language,
        onRetry: (id) => retry(id, { onSuccess: () => showNotice(t, t('deliveries.requeued')), onError: (error) => showFailure(t, i18n.language, error) }),
      }),
    [t, i18n.language, admin, retrying, behind, retry, titles],
  );
  const filtered = channel !== undefined || status !== undefined || job !== undefined;
  return (
    <>
      <div className={classes.toolbar}>
        <NativeSelect
          aria-label={t('deliveries.channel')} value={channel ?? ''} data={[{ value: '', label: t('deliveries.anyChannel') }, ...names.map((value) => ({ value, label: visible(value) }))]}
          onChange={(e) => set({ channel: e.currentTarget.value || undefined })}
        />
        <NativeSelect
          aria-label={t('deliveries.result')} value={status ?? ''} data={[{ value: '', label: t('deliveries.anyStatus') }, ...deliveryStatuses.map((value) => ({ value, label: t(`deliveries.status.${value}`) }))]}
          onChange={(e) => set({ status: (e.currentTarget.value || undefined) as DeliveryStatus | undefined })}
        />
        <JobField value={job ?? ''} onChange={(next) => set({ job: next || undefined })} />
      </div>
      {deliveries.error && !rows && <ProblemNotice error={deliveries.error} onRetry={() => void deliveries.refetch()} />}
      {!rows && !deliveries.error && <Waiting rows={4} />}
      {rows?.length === 0 && pages.page === 1 && (
        <EmptyPage icon="send" title={filtered ? t('deliveries.noMatch') : t('deliveries.emptyTitle')}>
          {job !== undefined && <NoSuchJob job={job} onChoose={(next) => set({ job: next })} />}
          {filtered ? <Button variant="default" onClick={() => set({ channel: undefined, status: undefined, job: undefined })}>{t('deliveries.clear')}</Button> : <p>{t('deliveries.emptyText')}</p>}
        </EmptyPage>
      )}
      {rows && rows.length > 0 && (
        <>
          <DataTable cards caption={t('deliveries.table')} columns={columns} rows={rows} rowId={({ id }) => id} busy={deliveries.isPlaceholderData} />
          <Pager pages={pages} nextCursor={deliveries.data?.nextCursor} />
        </>
      )}
    </>
  );
}
