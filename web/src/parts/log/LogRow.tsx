import { memo, type MouseEvent } from 'react';
import { parseLine, type Style } from '../../lib/ansi.ts';
import { formatClock } from '../../lib/clock.ts';
import { writeLines } from '../../lib/lineRange.ts';
import { mark } from '../../lib/logline.ts';
import { placesIn } from '../../lib/logsearch.ts';
import type { Pattern } from '../../lib/regex/pattern.ts';
import { segmentsOf } from '../../lib/segments.ts';
import classes from './LogView.module.css';

/** Texts of a row; passed in, since hundreds of rows are mounted while scrolling. */
export interface Words {
  over: string;
  hole: (bytes: number) => string;
}

interface Props {
  row: number;
  name: number;
  text: string;
  marks: number;
  /** In milliseconds; NaN if hidden. */
  at: number;
  offset: number;
  /** From 1; 0 if lines have no numbers. */
  number: number;
  style: Style;
  pattern: Pattern | undefined;
  /** Index of the current match; -1 for none. */
  current: number;
  picked: boolean;
  /** Out of view; mounted for a selection only. */
  held: boolean;
  onPick: (name: number, upTo: boolean) => void;
  words: Words;
}

/** One line: number, stream, and text with colours, matches and links. */
export const LogRow = memo(function LogRow({ row, name, text, marks, at, offset, number, style, pattern, current, picked, held, onPick, words }: Props) {
  if ((marks & mark.hole) !== 0) {
    return (
      <div className={classes.line} data-row={row} data-hole={text} data-held={held || undefined}>
        <span className={classes.hole}>{words.hole(Number(text))}</span>
      </div>
    );
  }
  const goesOn = (marks & mark.goesOn) !== 0;
  const pick = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onPick(name, event.shiftKey || (event.nativeEvent as PointerEvent).pointerType === 'touch');
  };
  return (
    <div className={classes.line} data-row={row} data-line={number || undefined} data-stream={(marks & mark.stderr) !== 0 ? 'stderr' : (marks & mark.known) !== 0 ? 'stdout' : undefined} data-picked={picked || undefined} data-held={held || undefined}>
      {/* Not part of the page's text, so that copying a log copies its text only. */}
      <a
        className={classes.number} href={`#${writeLines(number > 0 ? { from: number, to: number } : { byte: offset })}`} data-number={goesOn ? '↳' : number || '·'} tabIndex={-1} aria-hidden="true"
        onClick={pick}
      />
      {!Number.isNaN(at) && <span className={classes.time} data-time={formatClock(at)} />}
      <span className={classes.text} data-text="">
        <Text text={text} style={style} pattern={pattern} current={current} />
        {(marks & mark.over) !== 0 && <span className={classes.over} title={words.over} role="img" aria-label={words.over} />}
      </span>
    </div>
  );
});

function Text({ text, style, pattern, current }: Pick<Props, 'text' | 'style' | 'pattern' | 'current'>) {
  const { spans } = parseLine(text, style);
  const matches = pattern ? placesIn(spans.map((span) => span.text).join(''), pattern) : [];
  return segmentsOf(spans, matches).map((part, i) => {
    const coloured =
      part.classes === '' ? part.text : (
        <span key={i} className={part.classes} style={part.fg || part.bg ? ({ '--ansi-fg': part.fg, '--ansi-bg': part.bg } as object) : undefined}>{part.text}</span>
      );
    const marked = part.match === undefined ? coloured : <mark key={i} data-current={part.match === current || undefined}>{coloured}</mark>;
    return part.href === undefined ? marked : <a key={i} href={part.href} target="_blank" rel="noopener noreferrer nofollow" tabIndex={-1}>{marked}</a>;
  });
}
