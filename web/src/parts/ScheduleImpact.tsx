import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefaults } from '../api/defaults.ts';
import { usePreview } from '../api/schedules.ts';
import type { Definition, Preview } from '../api/types.ts';
import { compareFires, leastShown, type SideOfFires } from '../lib/compareFires.ts';
import { inheritanceOf, merged } from '../lib/effective.ts';
import { localZone } from '../lib/localTime.ts';
import { previewOf } from '../lib/previewOf.ts';
import { same } from '../lib/same.ts';
import { inFull, onTwoClocks, shortClock, wallClock } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';
import { hasSchedule } from './scheduleText.ts';
import classes from './ScheduleImpact.module.css';

/** How many fires of each side are compared, where the schedule changes: as many as the server lists. */
const mostAsked = 100;

const timetable = ({ cronExpr, timezone, dst, startAt, endAt, schedules }: Definition) => ({ cronExpr, timezone, dst, startAt, endAt, schedules: schedules?.map(({ params: _, label: __, jitter: ___, ...when }) => when) });

/**
 * What saving a definition means for the fires of a job: its next fires, and where the schedule changes those that go
 * and those that come.
 */
export function ScheduleImpact({ base, definition }: { base: Definition | undefined; definition: Definition }) {
  const { t, i18n } = useTranslation();
  // Time zones may be inherited, and the group may change.
  const defaults = useDefaults().data?.items ?? [];
  const [was, will] = [base ?? { name: '' }, definition].map((one) => merged(one, inheritanceOf(one, defaults)).job) as [Definition, Definition];
  const moved = base !== undefined && !same(timetable(was), timetable(will));
  const asked = moved ? mostAsked : leastShown;
  const [from] = useState(() => new Date().toISOString()); // both sides begin at the same time
  const before = usePreview({ ...previewOf(moved ? was : { name: '' }, asked), from }, i18n.language);
  const after = usePreview({ ...previewOf(will, asked), from }, i18n.language);
  const [had, has] = [moved && hasSchedule(base), hasSchedule(definition)];
  const sides = compareFires(had ? (before.data?.fires ?? []) : [], has ? (after.data?.fires ?? []) : [], asked);
  const known = (!has || after.data) && (!had || before.data);
  return (
    <>
      {(has || had) && known && (
        <section aria-label={t('review.follows')}>
          <h3 className={classes.head}>{t('review.follows')}</h3>
          <div className={moved ? classes.beforeAfter : undefined}>
            {moved && <Fires title={t('review.before')} preview={had ? before.data : undefined} side={sides.before} mark={t('review.gone')} tone="bad" />}
            <Fires title={moved ? t('review.after') : t('review.next')} preview={has ? after.data : undefined} side={sides.after} mark={moved ? t('review.come') : undefined} tone="ok" />
          </div>
        </section>
      )}
      {!has && <Note>{t(base && hasSchedule(base) ? 'review.unscheduled' : 'review.byHand')}</Note>}
      {moved && hasSchedule(base) && <Note>{t('review.passes')}</Note>}
    </>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className={classes.flat}>{children}</p>;
}

/** A schedule in words with its next fires; those that differ from the other side are marked. */
function Fires({ title, preview, side, mark, tone }: { title: string; preview: Preview | undefined; side: SideOfFires; mark: string | undefined; tone: 'ok' | 'bad' }) {
  const { t, i18n } = useTranslation();
  const several = preview?.entries?.some((entry) => entry > 1) ?? false;
  // The offset is shown where it is not the viewer's, and where it changes.
  const changes = new Set(side.fires.map(({ at }) => wallClock(at)?.offset)).size > 1;
  return (
    <div className={classes.fires}>
      <div className={classes.firesHead}>{title}</div>
      <p>{preview ? visible(preview.description) : t('review.byHand')}</p>
      <ul>
        {preview && side.fires.map(({ at, differs }, i) => {
          const entry = several ? preview.entries?.[i] : undefined;
          const clocks = onTwoClocks(at, i18n.language, localZone());
          return (
            <li key={at}>
              <time dateTime={at} title={inFull(at, i18n.language, preview.timezone)}>{clocks ? [clocks.day, shortClock(clocks.time), (clocks.own ?? changes) && clocks.offset].filter(Boolean).join(' ') : at}</time>{entry !== undefined && <span className="dim small"> {t('job.scheduleOf', { n: entry })}</span>}
              {mark !== undefined && differs && <span className={classes.mark} data-tone={tone}>{mark}</span>}
            </li>
          );
        })}
      </ul>
      {side.more > 0 && <p className="dim small">{t('review.more', { count: side.more })}</p>}
    </div>
  );
}
