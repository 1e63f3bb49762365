import { Button, Group, Modal, Stack } from '@mantine/core';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefaults } from '../../api/defaults.ts';
import { useDryRun } from '../../api/apply.ts';
import { Problem } from '../../api/problem.ts';
import { usePreview } from '../../api/schedules.ts';
import type { Definition, Preview } from '../../api/types.ts';
import { inheritanceOf, merged } from '../../lib/effective.ts';
import { compareFires, leastShown, type SideOfFires } from '../../lib/compareFires.ts';
import { localZone } from '../../lib/localTime.ts';
import { inFull, onTwoClocks, shortClock, wallClock } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { DiffView } from '../../parts/DiffView.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { hasSchedule } from '../../parts/scheduleText.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { same } from './document/paths.ts';
import dialogClasses from './dialogs.module.css';
import fieldClasses from './fields.module.css';
import { previewOf } from './SchedulePreview.tsx';

/** How many fires of each side are compared, where the schedule changes: as many as the server lists. */
const mostAsked = 100;

interface Props {
  base: Definition | undefined;
  definition: Definition;
  busy: boolean;
  error: Error | null;
  onSave: () => void;
  onClose: () => void;
}

/** Shows the changes before they are saved, and their consequences. Enter saves. */
export function ReviewDialog({ base, definition, busy, error, onSave, onClose }: Props) {
  const { t, i18n } = useTranslation();
  // The definition at the time of the request.
  const [jobs] = useState(() => [definition]);
  const dry = useDryRun(jobs);
  const [item] = dry.data?.items ?? [];
  const timetable = ({ cronExpr, timezone, dst, startAt, endAt, schedules }: Definition) => ({ cronExpr, timezone, dst, startAt, endAt, schedules: schedules?.map(({ params: _, label: __, jitter: ___, ...when }) => when) });
  // Time zones may be inherited, and the group may change.
  const defaults = useDefaults().data?.items ?? [];
  const [was, will] = [base ?? { name: '' }, definition].map((one) => merged(one, inheritanceOf(one, defaults)).job) as [Definition, Definition];
  const moved = base !== undefined && !same(timetable(was), timetable(will));
  const asked = moved ? mostAsked : leastShown;
  const [from] = useState(() => new Date().toISOString()); // both sides begin at the same time
  const before = usePreview({ ...previewOf(moved ? was : { name: '' }, asked), from }, i18n.language);
  const after = usePreview({ ...previewOf(will, asked), from }, i18n.language);
  const wasScheduled = moved && hasSchedule(base);
  const sides = compareFires(wasScheduled ? (before.data?.fires ?? []) : [], after.data?.fires ?? [], asked);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    onSave();
  };
  // A disabled button cannot have the focus.
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!dry.isPending) button.current?.focus();
  }, [dry.isPending]);
  const unchanged = item?.result === 'unchanged';
  return (
    <Modal opened size="xl" onClose={onClose} title={base ? t('review.title', { name: definition.name }) : t('review.newTitle', { name: definition.name })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {dry.isPending && <Waiting rows={3} />}
          {dry.error && <ProblemNotice error={dry.error} onRetry={() => void dry.refetch()} />}
          {item?.refusal && <ProblemNotice error={new Problem(422, item.refusal)} />}
          {unchanged && <p className={dialogClasses.flat}>{t('review.same')}</p>}
          {item?.diff && <DiffView diff={item.diff} label={t('review.changes')} />}
          {after.data && hasSchedule(definition) && (!wasScheduled || before.data) && (
            <section aria-label={t('review.follows')}>
              <h3 className={dialogClasses.subhead}>{t('review.follows')}</h3>
              <div className={moved ? dialogClasses.beforeAfter : undefined}>
                {moved && <Fires title={t('review.before')} preview={wasScheduled ? before.data : undefined} side={sides.before} mark={t('review.gone')} tone="bad" />}
                <Fires title={moved ? t('review.after') : t('review.next')} preview={after.data} side={sides.after} mark={moved ? t('review.come') : undefined} tone="ok" />
              </div>
            </section>
          )}
          {!hasSchedule(definition) && <p className={dialogClasses.flat}>{t(base && hasSchedule(base) ? 'review.unscheduled' : 'review.byHand')}</p>}
          {moved && hasSchedule(base) && <p className={dialogClasses.flat}>{t('review.passes')}</p>}
          {definition.paused && <p className={dialogClasses.flat}>{t('review.paused')}</p>}
          {base && !unchanged && <p className={`${dialogClasses.flat} dim small`}>{t('review.running')}</p>}
          {error && <ProblemNotice error={error} />}
          <Group justify="flex-end" className="stays">
            <Button variant="default" onClick={onClose}>{t('editor.stay')}</Button>
            <Button ref={button} type="submit" data-autofocus loading={busy} disabled={dry.isPending}>{base ? t('editor.save') : t('editor.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** A schedule in words with its next fires; those that differ from the other side are marked. */
function Fires({ title, preview, side, mark, tone }: { title: string; preview: Preview | undefined; side: SideOfFires; mark: string | undefined; tone: 'ok' | 'bad' }) {
  const { t, i18n } = useTranslation();
  const several = preview?.entries?.some((entry) => entry > 1) ?? false;
  // The offset is shown where it is not the viewer's, and where it changes.
  const changes = new Set(side.fires.map(({ at }) => wallClock(at)?.offset)).size > 1;
  return (
    <div className={dialogClasses.fires}>
      <div className={dialogClasses.firesHead}>{title}</div>
      <p>{preview ? visible(preview.description) : t('review.byHand')}</p>
      <ul>
        {preview && side.fires.map(({ at, differs }, i) => {
          const entry = several ? preview.entries?.[i] : undefined;
          const clocks = onTwoClocks(at, i18n.language, localZone());
          return (
            <li key={at}>
              <time dateTime={at} title={inFull(at, i18n.language, preview.timezone)}>{clocks ? [clocks.day, shortClock(clocks.time), (clocks.own ?? changes) && clocks.offset].filter(Boolean).join(' ') : at}</time>{entry !== undefined && <span className="dim small"> {t('job.scheduleOf', { n: entry })}</span>}
              {mark !== undefined && differs && <span className={fieldClasses.mark} data-tone={tone}>{mark}</span>}
            </li>
          );
        })}
      </ul>
      {side.more > 0 && <p className="dim small">{t('review.more', { count: side.more })}</p>}
    </div>
  );
}
