import { createContext, use } from 'react';
import type { Definition, Ranking } from '../../api/types.ts';
import type { JobDocument } from './document/JobDocument.ts';
import { locationOf, valueAt, type Path } from './document/paths.ts';

/** The document as the fields of the form see it. */
export interface FormView {
  doc: JobDocument;
  /** What the text defines, or last defined before it could not be read. */
  definition: Definition;
  isNew: boolean;
  /** What is wrong at a field, in words. */
  errorAt: (field: string) => string | undefined;
  /** What is likely not meant at a field. */
  warningAt: (field: string) => string | undefined;
  /** Who would run the job as it stands here. */
  placement: Ranking | undefined;
  /** The row of a list of names that has no name yet, by field: it is not in the document. */
  fresh: Fresh;
  setFresh: (field: string, row: Record<string, string> | undefined) => void;
}

export type Fresh = Readonly<Record<string, Record<string, string> | undefined>>;

/** The fields with a row that holds something and would be lost, as it has no name. */
export function unnamedIn(fresh: Fresh): string[] {
  return Object.entries(fresh).flatMap(([field, row]) => (row && Object.values(row).some((part) => part !== '') ? [field] : []));
}

export const FormContext = createContext<FormView | undefined>(undefined);

export function useForm(): FormView {
  const form = use(FormContext);
  if (!form) throw new Error('a field outside of the editor');
  return form;
}

/** The id of a field's input, by which faults lead to it. */
export function fieldId(location: string): string {
  return `field-${location}`;
}

/** One field of the form: what it holds, what is wrong with it, and how it is changed. */
export function useField(path: Path) {
  const { doc, definition, errorAt, warningAt } = useForm();
  const location = locationOf(path);
  return { id: fieldId(location), value: valueAt(definition, path), error: errorAt(location), warning: warningAt(location), set: (value: unknown) => doc.set(path, value) };
}
