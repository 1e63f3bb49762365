import { useTranslation } from 'react-i18next';
import type { Preview } from '../api/types.ts';
import { localZone } from '../lib/localTime.ts';
import { rfc3339In, wallClock, weekday } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';
import classes from './FireList.module.css';
import { Icon } from './icons.tsx';
import { RelativeTime } from './TimeText.tsx';

/** A schedule in words and its next fires: the job's wall clock first, the viewer's where it differs. Words and notes are the server's; what is told of a fire stands with it. */
export function FireList({ preview, none }: { preview: Preview; none?: string }) {
  const { t } = useTranslation();
  const own = localZone();
  const fires = preview.fires.map((fire) => ({ fire, wall: wallClock(fire), yours: wallClock(rfc3339In(fire, own)), at: Date.parse(fire) }));
  const elsewhere = fires.some(({ wall, yours }) => wall && yours && wall.offset !== yours.offset);
  const notesOf = (at: number) => preview.notes.filter((note) => note.at !== undefined && Date.parse(note.at) === at);
  const others = preview.notes.filter((note) => note.at === undefined || !fires.some(({ at }) => at === Date.parse(note.at ?? '')));
  return (
    <div className={classes.box}>
      <p className={classes.words}>{visible(preview.description)}</p>
      {others.map((note, i) => <Note key={i} text={note.text} />)}
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
                  <time dateTime={fire}><Clock {...wall} beside={elsewhere ? undefined : wall.offset} /></time>
                  {elsewhere ? (
                    <span className={classes.yours} title={wall.offset === yours.offset ? undefined : `${wall.offset} → ${yours.offset}`}>
                      <span className="unseen">{t('job.yourZone', { zone: own })}</span> <Clock {...yours} date={yours.date === wall.date ? undefined : yours.date} beside={yours.offset} />
                    </span>
                  ) : (
                    i === 0 && <span className="small dim"><RelativeTime at={fire} /></span>
                  )}
                  {notes.map((note, k) => <Note key={k} text={note.text} />)}
                </li>
              );
            })}
          </ol>
        </>
      )}
    </div>
  );
}

function Clock({ date, time, beside }: { date: string | undefined; time: string; beside?: string | undefined }) {
  const { i18n } = useTranslation();
  return (
    <>
      {date && <><span className={classes.day}>{weekday(date, i18n.language)}</span> {date} </>}<strong>{time}</strong>{beside && <span className="dim"> {beside}</span>}
    </>
  );
}

function Note({ text }: { text: string }) {
  return (
    <p className={classes.note}>
      <Icon name="warn" size={16} />
      <span>{visible(text)}</span>
    </p>
  );
}
