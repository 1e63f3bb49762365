import { Button, Checkbox, Group } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { previewBackfill, useBackfill, useBackfillAct, useBackfills, useStartBackfill, type Backfill } from '../../api/backfills.ts';
import type { Job } from '../../api/types.ts';
import { BackfillDialog } from '../../flow/run/BackfillDialog.tsx';
import type { BackfillPreview, BackfillRequest } from '../../flow/requests.ts';
import { titled } from '../../lib/jobTitle.ts';
import { listed } from '../../lib/lists.ts';
import { formatPeriod } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { zoneOf } from '../../parts/scheduleText.ts';
import { showFailure } from '../../parts/showFailure.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './BackfillsPanel.module.css';
import { FireCalendar, type TimeRange } from './FireCalendar.tsx';
import { dateIn } from './fireCalendar.ts';

async function preview(job: string, request: BackfillRequest): Promise<BackfillPreview> {
  const { fires = [], live = [], unknown, warnings = [], counts } = await previewBackfill(job, request);
  return { items: fires.map(({ at, attempt }) => ({ plannedAt: at, attempt })), total: counts.total, live: live.map(({ at }) => at), unknown: unknown?.count ?? 0, warnings };
}

/** The backfills of a job with their progress, and the dialog for a new one. */
export function BackfillsPanel({ job, mayRun }: { job: Job; mayRun: boolean }) {
  const { t } = useTranslation();
  const backfills = useBackfills(job.name);
  const start = useStartBackfill(job.name);
  const [asking, setAsking] = useState<{ range?: TimeRange }>();
  const [until, setUntil] = useState<string>();
  const items = backfills.data?.items;
  const { yielded } = useBackfill(job.name, items?.[0]?.id).data ?? {};
  // A job has one backfill at a time.
  const busy = items?.some(({ state }) => state !== 'ended') === true;
  // Shows the last month of a range on the calendar.
  const show = (to: string) => setUntil(dateIn(zoneOf(job) ?? 'UTC', Math.min(Date.parse(to) - 1, Date.now())).slice(0, 7));
  const submit = (request: BackfillRequest) => start.mutate(request, {
    onSuccess: () => {
      show(request.to);
      showNotice(t, t('backfill.started'));
      setAsking(undefined);
    },
  });
  return (
    <div className={classes.stack}>
      <FireCalendar job={job} onRange={mayRun && items && !busy ? (range) => setAsking({ range }) : undefined} until={until} onUntil={setUntil} />
      <Panel title={t('backfill.list')} help={t('backfill.help')} side={mayRun && <Button size="xs" disabled={busy} title={busy ? t('backfill.oneAtATime') : undefined} onClick={() => setAsking({})}>{t('backfill.open')}</Button>}>
        {backfills.error && !items && <ProblemNotice error={backfills.error} onRetry={() => void backfills.refetch()} />}
        {!items && !backfills.error && <Waiting rows={2} />}
        {items?.length === 0 && <p className="dim">{t('backfill.none')}</p>}
        {items && items.length > 0 && <ul className={classes.list}>{items.map((one) => <Entry key={one.id} backfill={one} mayRun={mayRun} onShow={show} />)}</ul>}
        {yielded && (
          <Group gap="xs" data-yielded="">
            <span>{t('backfill.yielded', { count: yielded.count })}</span>
            {mayRun && <Button size="xs" variant="default" disabled={busy} title={busy ? t('backfill.oneAtATime') : undefined} onClick={() => setAsking({ range: yielded })}>{t('backfill.runYielded')}</Button>}
          </Group>
        )}
        {asking && (
          <BackfillDialog
            job={titled(job)} params={job.params} range={asking.range} busy={start.isPending} error={start.error} preview={(request) => preview(job.name, request)} onSubmit={submit}
            onClose={() => {
              start.reset();
              setAsking(undefined);
            }}
          />
        )}
      </Panel>
    </div>
  );
}

const tones = [['succeeded', 'ok'], ['failed', 'bad'], ['running', 'live'], ['skipped', 'warn'], ['waiting', 'idle']] as const;

/** One backfill: its range, state, and how many of its fires have ended. */
function Entry({ backfill, mayRun, onShow }: { backfill: Backfill; mayRun: boolean; onShow: (to: string) => void }) {
  const { t, i18n } = useTranslation();
  const act = useBackfillAct();
  const [cancelling, setCancelling] = useState(false);
  const [kill, setKill] = useState(false);
  const { id = '', state, counts, from, to, createdAt, by, note, status } = backfill;
  const send = (what: 'pause' | 'resume') => act.mutate({ id, act: what }, { onError: (error) => showFailure(t, i18n.language, error) });
  const figures = listed(tones.map(([name]) => counts[name] > 0 && t('backfill.figure', { count: counts[name], status: t(`status.${name}`) })), i18n.language);
  return (
    <li className={classes.entry} data-backfill={state}>
      <div className={classes.about}>
        <strong>{from && to ? formatPeriod(from, to, i18n.language) : createdAt && <TimeText at={createdAt} />}</strong>{' '}
        <span className={classes.state} data-tone={state === 'ended' ? (status === 'succeeded' ? 'ok' : 'bad') : state === 'running' ? 'live' : 'warn'}>{state === 'ended' && status ? t(`status.${status}`) : t(`backfill.states.${state}`)}</span>
        <div className={classes.bar} aria-hidden="true">{tones.map(([name, tone]) => counts[name] > 0 && <span key={name} data-tone={tone} style={{ flexGrow: counts[name] }} />)}</div>
        <div className="small dim">{t('backfill.dates', { count: counts.total })}: {figures}</div>
        {to && <Button variant="subtle" size="compact-xs" leftSection={<Icon name="calendar" size={12} />} onClick={() => onShow(to)}>{t('fireCalendar.show')}</Button>}
        <div className="small dim break">{listed([by && visible(by), note && visible(note)], i18n.language)}</div>
      </div>
      {mayRun && (state === 'running' || state === 'paused') && (
        <Group gap="xs">
          {state === 'running'
            ? <Button size="xs" variant="default" loading={act.isPending} onClick={() => send('pause')}>{t('pause.pause')}</Button>
            : <Button size="xs" variant="default" loading={act.isPending} onClick={() => send('resume')}>{t('pause.resume')}</Button>}
          <Button size="xs" variant="default" onClick={() => setCancelling(true)}>{t('backfill.cancel')}</Button>
        </Group>
      )}
      {cancelling && (
        <ConfirmDialog
          title={t('backfill.cancelTitle')} confirm={t('backfill.cancelConfirm')} cancel={t('backfill.keep')} busy={act.isPending} error={act.error} onCancel={() => setCancelling(false)}
          onConfirm={() => act.mutate({ id, act: 'cancel', kill }, { onSuccess: () => setCancelling(false) })}
        >
          <p>{t('backfill.cancelText')}</p>
          <Checkbox label={t('backfill.alsoKill')} checked={kill} onChange={(event) => setKill(event.currentTarget.checked)} />
        </ConfirmDialog>
      )}
    </li>
  );
}
