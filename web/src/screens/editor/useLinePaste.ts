import { useState, type ClipboardEvent } from 'react';
import { parseCrontab, type CrontabLine } from '../../api/crontab.ts';
import type { JobDocument } from './document/JobDocument.ts';
import { valueAt, type Path } from './document/paths.ts';
import { crontabIn } from './crontabLine.ts';

export interface Understood {
  /** The fields that were filled in. */
  fields: string[];
  notices: NonNullable<CrontabLine['notices']>;
  /** The text before and after. */
  before: string;
  after: string;
}

/** The definition from a line, without a name. A line has no group; an existing group stays. */
const said = ['title', 'cronExpr', 'command', 'stdin', 'description', 'env', 'shell', 'workDir', 'user'] as const;

/** Handles pasted crontab lines: the server parses them, and the fields are filled in as one undoable edit. */
export function useLinePaste(doc: JobDocument, isNew: boolean, onSeveral: (text: string) => void) {
  const [understood, setUnderstood] = useState<Understood>();
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);

  const read = async (text: string): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      const definition = doc.settled().parsed.definition;
      const { items } = await parseCrontab({ text, timezone: typeof definition?.timezone === 'string' ? definition.timezone : undefined });
      const line = items.find((item) => item.job);
      const job = line?.job;
      const notices = items.flatMap((item) => item.notices ?? []);
      const entries: [Path, unknown][] = said.filter((field) => job?.[field] !== undefined).map((field) => [[field], job?.[field]]);
      // The name of a line that was imported before is that of its job.
      if (job && isNew && !line.exists && !valueAt(definition, ['name'])) entries.unshift([['name'], job.name]);
      const before = doc.text;
      doc.setAll(entries);
      setUnderstood({ fields: entries.map(([path]) => String(path[0])), notices, before, after: doc.text });
      return job !== undefined;
    } catch (failed) {
      setError(failed as Error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  /** Accepts pasted text if it is a crontab; reports whether it was one. */
  const take = (text: string): boolean => {
    const what = crontabIn(text);
    if (what === 'several' && isNew) onSeveral(text);
    else if (what === 'line') void read(text);
    else return false;
    return true;
  };
  return {
    understood, error, busy, read, take,
    forget: () => setUnderstood(undefined),
    /** Reverts the filled-in fields, as long as nothing else was changed since. */
    undo: understood && understood.after === doc.text ? () => {
      doc.write(understood.before);
      setUnderstood(undefined);
    } : undefined,
    onPaste: (event: ClipboardEvent<HTMLElement>) => {
      if (take(event.clipboardData.getData('text/plain'))) event.preventDefault();
    },
  };
}
