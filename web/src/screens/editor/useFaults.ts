import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useValidation } from '../../api/jobs.ts';
import { Problem, type Fault } from '../../api/problem.ts';
import type { Definition } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { faultText } from '../../parts/problemText.ts';
import { emptyForm, ownFaults, sortFaults, stillTrue, type Field, type Form } from './form.ts';

/**
 * What is wrong, by field: the server judges while one types, and once more when one saves. A field that nobody has
 * touched yet stays silent.
 */
export function useFaults(form: Form, definition: Definition, saveError: Error | null) {
  const { t, i18n } = useTranslation();
  const [touched, setTouched] = useState<ReadonlySet<Field>>(new Set());
  const [settled] = useDebouncedValue(definition, 350);
  const validation = useValidation(settled, touched.size > 0);

  const own: (Fault & { own: true })[] = ownFaults(form).map(({ location, kind }) => ({ location, own: true, message: t(`editor.own.${kind}`) }));
  const unread = new Set(own.map((fault) => fault.location));
  const refused = saveError instanceof Problem ? saveError : undefined;
  if (refused?.code === 'exists') own.push({ location: 'name', own: true, message: t('editor.nameTaken') });
  const found = refused && refused.faults.length > 0 ? refused.faults : validation.data ? stillTrue(validation.data, definition) : [];
  const { at, rest } = sortFaults([...own, ...found.filter((fault) => !unread.has(fault.location.replace(/\[\d+\]$/, '')))], form);

  return {
    /** Faults that belong to no field of the form. */
    rest,
    errorAt: (field: Field): string | undefined => {
      const here = touched.has(field) ? at[field] : undefined;
      // Where a field is a list, it matters which of its entries is meant.
      const named = (fault: Fault) => /^(?:env|params)\.([^.]+)/.exec(fault.location)?.[1];
      const entry = (fault: Fault) => (named(fault) === undefined ? '' : `${named(fault)}: `);
      return here?.map((fault) => ('own' in fault ? fault.message : visible(entry(fault) + faultText(t, i18n.language, fault)))).join(' ');
    },
    touch: (fields: Field[]) => setTouched((before) => (fields.every((f) => before.has(f)) ? before : new Set([...before, ...fields]))),
    touchAll: () => setTouched(new Set(Object.keys(emptyForm) as Field[])),
  };
}
