import type { TFunction } from 'i18next';
import { Problem, type Fault } from '../api/problem.ts';
import { sentences } from '../lib/lists.ts';
import { visible } from '../lib/visible.ts';
import { faultText } from './problemText.ts';

/**
 * Distributes the faults of a refusal in a form: at returns those of a field and its subfields as text; rest are those
 * of no field.
 */
export function fieldFaults(t: TFunction, language: string, error: Error | null, fields: readonly string[]): { at: (field: string) => string | undefined; rest: readonly Fault[] } {
  const faults = error instanceof Problem ? error.faults : [];
  const belongs = (fault: Fault, field: string) => fault.location === field || fault.location.startsWith(`${field}.`) || fault.location.startsWith(`${field}[`);
  return {
    at: (field) => sentences(faults.filter((fault) => belongs(fault, field)).map((fault) => visible(faultText(t, language, fault))), language) || undefined,
    rest: faults.filter((fault) => !fields.some((field) => belongs(fault, field))),
  };
}
