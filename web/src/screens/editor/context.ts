import { createContext, use } from 'react';
import type { Definition, Ranking } from '../../api/types.ts';
import type { Effective } from '../../lib/effective.ts';
import type { JobDocument } from './document/JobDocument.ts';
import { locationOf, valueAt, type Path } from './document/paths.ts';

/** The document for the fields of the form. */
export interface FormView {
  doc: JobDocument;
  /** The definition of the text, or the last valid one if the text cannot be parsed. */
  definition: Definition;
  /** The definition with what it would inherit, and from which defaults. */
  whole: Effective<Definition>;
  isNew: boolean;
  /** Fault at a field, as text. */
  errorAt: (field: string) => string | undefined;
  /** Warning at a field. */
  warningAt: (field: string) => string | undefined;
  /** The end of the command that redirects all of its output. */
  redirect: string | undefined;
  /** The eligible workers for the edited job. */
  placement: Ranking | undefined;
  /** The unnamed row of a list of names, by field: it is not in the document. */
  fresh: Fresh;
  setFresh: (field: string, row: Record<string, string> | undefined) => void;
}

export type Fresh = Readonly<Record<string, Record<string, string> | undefined>>;

/** Fields with a row whose content would be lost, because it has no name. */
export function unnamedIn(fresh: Fresh): string[] {
  return Object.entries(fresh).flatMap(([field, row]) => (row && Object.values(row).some((part) => part !== '') ? [field] : []));
}

export const FormContext = createContext<FormView | undefined>(undefined);

export function useForm(): FormView {
  const form = use(FormContext);
  if (!form) throw new Error('a field outside of the editor');
  return form;
}

/** Returns the id of a field's input, which faults link to. */
export function fieldId(location: string): string {
  return `field-${location}`;
}

/** One field of the form: its value, the one that it inherits otherwise, its fault, and how to change it. */
export function useField(path: Path) {
  const { doc, definition, whole, errorAt, warningAt } = useForm();
  const location = locationOf(path);
  const from = whole.from.get(String(path[0]));
  const inherited = from === undefined ? undefined : { value: valueAt(whole.job, path), from };
  return { id: fieldId(location), value: valueAt(definition, path), inherited, error: errorAt(location), warning: warningAt(location), set: (value: unknown) => doc.set(path, value) };
}
