import { Checkbox, Textarea } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../api/problem.ts';
import type { Param } from '../api/types.ts';
import { listed, sentences } from '../lib/lists.ts';
import { visible } from '../lib/visible.ts';
import { ParamInput } from './ParamInput.tsx';
import { ProblemNotice } from './ProblemNotice.tsx';
import { faultText } from './problemText.ts';
import type { RunForm } from './runRequest.ts';

interface Props {
  params: Record<string, Param> | undefined;
  /** Jobs that run after its success. */
  followers: readonly string[];
  form: RunForm;
  /** Why the request was refused; faults of fields are shown beside them. */
  error: Error | null;
  onChange: (part: Partial<RunForm>) => void;
  /** The choice of the worker, with its fault. */
  worker?: (fault: string | undefined) => ReactNode;
}

/** The fields of a run request: parameters, note, and whether other jobs run after it. */
export function RunFields({ params = {}, followers, form, error, onChange, worker }: Props) {
  const { t, i18n } = useTranslation();
  const names = Object.keys(params);
  const faults = error instanceof Problem ? error.faults : [];
  const errorAt = (location: string) => sentences(faults.filter((f) => f.location === location).map((f) => visible(faultText(t, i18n.language, f))), i18n.language) || undefined;
  const shown = ['note', ...(worker ? ['worker'] : []), ...names.map((name) => `params.${name}`)];
  const elsewhere = faults.filter((f) => !shown.includes(f.location));
  return (
    <>
      {names.map((name, i) => (
        <ParamInput
          key={name} name={name} param={params[name] ?? {}} value={form.params[name] ?? ''} error={errorAt(`params.${name}`)} first={i === 0}
          onChange={(value) => onChange({ params: { ...form.params, [name]: value } })}
        />
      ))}
      {worker?.(errorAt('worker'))}
      <Textarea label={t('runDialog.note')} description={t('runDialog.noteHelp')} autosize minRows={1} maxRows={4} maxLength={500} value={form.note} error={errorAt('note')} onChange={(e) => onChange({ note: e.currentTarget.value })} />
      {followers.length > 0 && <Checkbox label={t('runDialog.alone')} description={t('runDialog.aloneHelp', { jobs: visible(listed(followers, i18n.language)) })} checked={form.alone ?? false} onChange={(e) => onChange({ alone: e.currentTarget.checked })} />}
      {error && (faults.length === 0 || elsewhere.length > 0) && <ProblemNotice error={error} faults={elsewhere} />}
    </>
  );
}
