import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Preview, ScheduleNote } from '../api/types.ts';
import { labelled } from '../lib/lists.ts';
import { localZone } from '../lib/localTime.ts';
import { currentSecond } from '../lib/ticks.ts';
import { formatDate, rfc3339In, wallClock } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';
import classes from './FireList.module.css';
import { Icon } from './icons.tsx';
import { filledText, sentence } from './problemText.ts';
import { RelativeTime } from './TimeText.tsx';

/**
 * A schedule in words and its next fires: the job's wall clock first, then the viewer's if it differs. The words come
 * from the server; notes on a fire are beside it.
 */
export function FireList({ preview, none }: { preview: Preview; none?: string }) {
  const { t, i18n } = useTranslation();
  const own = localZone();
  const fires = preview.fires.map((fire) => ({ fire, wall: wallClock(fire), yours: wallClock(rfc3339In(fire, own)), at: Date.parse(fire) }));
  const today = (zone: string) => wallClock(rfc3339In(new Date(currentSecond()).toISOString(), zone))?.date;
  const days = { wall: today(preview.timezone), yours: today(own) };
  // Seconds are shown if any fire has them, so that the times are aligned.
  const clock = (time: string) => (fires.some(({ wall }) => wall && !wall.time.endsWith(':00')) ? time : time.slice(0, 5));
  const elsewhere = fires.some(({ wall, yours }) => wall && yours && wall.offset !== yours.offset);
  const notesOf = (at: number) => preview.notes.filter((note) => note.at !== undefined && Date.parse(note.at) === at);
  const others = preview.notes.filter((note) => note.at === undefined || !fires.some(({ at }) => at === Date.parse(note.at ?? '')));
  const several = preview.entries?.some((entry) => entry > 1) ?? false;
  return (
    <div className={classes.box}>
      <p className={classes.words}>{visible(preview.description)}</p>
      {others.map((note, i) => <Note key={i} text={noteText(t, i18n.language, note)} />)}
      {fires.length === 0 ? (
        <p className="dim">{none ?? t('editor.previewNever')}</p>
      ) : (
        <>
          {elsewhere && (
            <div className={classes.zones} aria-hidden="true">
              <span>{preview.timezone}</span>
              <span>{t('job.yourZone', { zone: own })}</span>
            </div>
          )}
          <ol className={classes.fires}>
            {fires.map(({ fire, wall, yours, at }, i) => {
              const notes = notesOf(at);
              if (!wall || !yours) return <li key={fire}>{fire}</li>;
              return (
                <li key={fire} {...(notes.length > 0 && { 'data-noted': '' })}>
                  <time dateTime={fire}><Clock day={formatDate(wall.date, i18n.language, days.wall)} time={clock(wall.time)} beside={elsewhere ? undefined : wall.offset} /></time>
                  {elsewhere ? (
                    <span className={classes.yours} title={`${yours.date} ${yours.time} ${yours.offset}`}>
                      <span className="unseen">{t('job.yourZone', { zone: own })}</span> <Clock day={yours.date === wall.date ? undefined : formatDate(yours.date, i18n.language, days.yours)} time={clock(yours.time)} beside={yours.offset} />
                    </span>
                  ) : (
                    i === 0 && <span className="small dim"><RelativeTime at={fire} /></span>
                  )}
                  {several && preview.entries?.[i] !== undefined && <span className="small dim"> {t('job.scheduleOf', { n: preview.entries[i] })}</span>}
                  {notes.map((note, k) => <Note key={k} text={noteText(t, i18n.language, note)} />)}
                </li>
              );
            })}
          </ol>
        </>
      )}
    </div>
  );
}

/** A wall clock time, and the day unless it stands beside it. */
function Clock({ day, time, beside }: { day: string | undefined; time: string; beside?: string | undefined }) {
  return (
    <>
      {day && <span className={classes.day}>{day}</span>} <strong>{time}</strong>{beside && <span className="dim"> {beside}</span>}
    </>
  );
}

/** Returns a remark on a schedule: the server's own words in English, a translation by code otherwise. */
function noteText(t: TFunction, language: string, { code, text, data, entry }: ScheduleNote): string {
  const words = (language === 'en' ? undefined : filledText(t, language, 'notes', code, data)) ?? sentence(text);
  return entry === undefined ? words : labelled(t('job.scheduleOf', { n: entry }), words, language);
}

function Note({ text }: { text: string }) {
  return (
    <p className={classes.note}>
      <Icon name="warn" size={16} />
      <span>{visible(text)}</span>
    </p>
  );
}
