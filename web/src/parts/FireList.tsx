import { useTranslation } from 'react-i18next';
import type { Preview } from '../api/types.ts';
import { formatTime, wallClock, weekday } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';
import classes from './FireList.module.css';
import { Icon } from './icons.tsx';

function localOffset(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const two = (n: number) => String(Math.floor(Math.abs(n))).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** A schedule in words and its next fires: the job's wall clock first, the viewer's where it differs. Words and notes are the server's. */
export function FireList({ preview, none }: { preview: Preview; none?: string }) {
  const { t, i18n } = useTranslation();
  return (
    <div className={classes.box}>
      <p className={classes.words}>{visible(preview.description)}</p>
      {preview.notes.map((note, i) => (
        <p key={i} className={classes.note}>
          <Icon name="warn" size={16} />
          <span>{visible(note.text)}</span>
        </p>
      ))}
      {preview.fires.length === 0 ? (
        <p className="dim">{none ?? t('editor.previewNever')}</p>
      ) : (
        <ol className={classes.fires}>
          {preview.fires.map((fire) => {
            const wall = wallClock(fire);
            if (!wall) return <li key={fire}>{fire}</li>;
            const elsewhere = wall.offset !== localOffset(new Date(fire));
            return (
              <li key={fire}>
                <time dateTime={fire}>
                  <span className={classes.day}>{weekday(wall.date, i18n.language)}</span> {wall.date} <strong>{wall.time}</strong> <span className="dim">{wall.offset}</span>
                </time>
                {elsewhere && <span className="small dim">{t('job.yourTime', { time: formatTime(fire, i18n.language) })}</span>}
              </li>
            );
          })}
        </ol>
      )}
    </div>
  );
}
