import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Preview, ScheduleNote } from '../api/types.ts';
import { labelled } from '../lib/lists.ts';
import { localZone } from '../lib/localTime.ts';
import { inFull, onTwoClocks } from '../lib/time.ts';
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
  const fires = preview.fires.map((fire) => ({ fire, clocks: onTwoClocks(fire, i18n.language, own), at: Date.parse(fire) }));
  // Seconds are shown if any fire has them, so that the times are aligned.
  const clock = (time: string) => (fires.some(({ clocks }) => clocks && !clocks.time.endsWith(':00')) ? time : time.slice(0, 5));
  const elsewhere = fires.some(({ clocks }) => clocks?.own);
  // The viewer's own offset is shown where it changes: an hour may be there twice.
  const changes = new Set(fires.map(({ clocks }) => clocks?.offset)).size > 1;
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
            {fires.map(({ fire, clocks, at }, i) => {
              const notes = notesOf(at);
              if (!clocks) return <li key={fire}>{fire}</li>;
              return (
                <li key={fire} {...(notes.length > 0 && { 'data-noted': '' })}>
                  <time dateTime={fire} title={inFull(fire, i18n.language, preview.timezone)}><Clock day={clocks.day} time={clock(clocks.time)} beside={changes && !elsewhere ? clocks.offset : undefined} /></time>
                  {elsewhere ? (
                    <span className={classes.yours}>
                      <span className="unseen">{t('job.yourZone', { zone: own })}</span> <Clock day={clocks.own?.day} time={clock(clocks.own?.time ?? clocks.time)} beside={clocks.own?.offset ?? clocks.offset} />
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
