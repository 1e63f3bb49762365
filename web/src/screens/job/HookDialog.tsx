import { Button, Checkbox, Group, Modal, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useSaveHook } from '../../api/hooks.ts';
import { Problem } from '../../api/problem.ts';
import type { Hook, Job } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { fieldFaults } from '../../parts/fieldFaults.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { definitionOfHook, hookAddress, hookForm, signatures, sourceKinds, type HookForm, type SourceForm } from './hookForm.ts';
import classes from './HooksPanel.module.css';

interface Props {
  job: Job;
  /** Absent for a new one. */
  hook?: Hook;
  onSaved: (hook: Hook) => void;
  onClose: () => void;
}

/** Creates or changes a hook. */
export function HookDialog({ job, hook, onSaved, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const save = useSaveHook(job.name);
  const [form, setForm] = useState(() => hookForm(hook, Object.keys(job.params ?? {})));
  const names = Object.keys(form.sources);
  const { at, rest } = fieldFaults(t, i18n.language, save.error, ['name', 'signature', 'secret', 'rate', ...names.map((name) => `params.${name}`)]);
  const refused = save.error instanceof Problem ? save.error.code : undefined;
  const set = (part: Partial<HookForm>) => {
    setForm({ ...form, ...part });
    if (save.isError) save.reset();
  };
  const setSource = (name: string, part: Partial<SourceForm>) => set({ sources: { ...form.sources, [name]: { kind: 'none', text: '', ...form.sources[name], ...part } } });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: form.name.trim(), definition: definitionOfHook(form, hook), version: hook?.version }, { onSuccess: onSaved });
  };
  return (
    <Modal opened onClose={onClose} title={hook ? t('hooks.editTitle', { name: visible(hook.name) }) : t('hooks.newTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate autoComplete="off">
        <Stack gap="md">
          {!hook && (
            <TextInput
              label={t('hooks.name')} description={t('hooks.nameHelp')} placeholder="deploy" required data-autofocus spellCheck={false} autoCapitalize="none" maxLength={128}
              value={form.name} error={refused === 'exists' ? t('hooks.nameTaken') : at('name')} onChange={(e) => set({ name: e.currentTarget.value })}
            />
          )}
          {names.length > 0 && (
            <fieldset className={classes.params}>
              <legend>{t('hooks.params')}</legend>
              <p className="small dim">{t('hooks.paramsHelp')}</p>
              {names.map((name) => <SourceFields key={name} name={name} source={form.sources[name]} error={at(`params.${name}`)} onChange={(part) => setSource(name, part)} />)}
            </fieldset>
          )}
          <NativeSelect
            label={t('hooks.signature')} description={t(form.signature ? `hooks.signatureHelp.${form.signature}` : 'hooks.signatureHelp.none')} value={form.signature} error={at('signature')}
            data={[{ value: '', label: t('hooks.unsigned') }, ...signatures.map((value) => ({ value, label: t(`hooks.signatures.${value}`) }))]}
            onChange={(e) => set({ signature: signatures.find((one) => one === e.currentTarget.value) ?? '' })}
          />
          {form.signature && (
            <TextInput
              label={t('hooks.secret')} description={t(hook?.signature ? 'hooks.secretKept' : 'hooks.secretHelp')} spellCheck={false} autoCapitalize="none" autoComplete="off" maxLength={256}
              value={form.secret} error={at('secret')} onChange={(e) => set({ secret: e.currentTarget.value })}
            />
          )}
          <NumberInput label={t('hooks.rate')} description={t('hooks.rateHelp')} min={1} max={600} allowDecimal={false} value={form.rate} error={at('rate')} onChange={(value) => set({ rate: Number(value) })} />
          {save.error && refused !== 'exists' && (refused !== 'invalid' || rest.length > 0) && <ProblemNotice error={save.error} faults={rest} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={save.isPending}>{t(hook ? 'editor.save' : 'hooks.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const examples = { none: '', path: '$.ref', field: 'branch', value: '' };

function SourceFields({ name, source = { kind: 'none', text: '' }, error, onChange }: { name: string; source: SourceForm | undefined; error: string | undefined; onChange: (part: Partial<SourceForm>) => void }) {
  const { t } = useTranslation();
  const shown = visible(name);
  return (
    <div className={classes.source}>
      <NativeSelect
        label={<code>{shown}</code>} value={source.kind} data={sourceKinds.map((kind) => ({ value: kind, label: t(`hooks.sources.${kind}`) }))} error={source.kind === 'none' ? error : undefined}
        onChange={(e) => onChange({ kind: sourceKinds.find((kind) => kind === e.currentTarget.value) ?? 'none' })}
      />
      {source.kind !== 'none' && (
        <TextInput
          label={t('hooks.sourceOf', { name: shown, kind: t(`hooks.sources.${source.kind}`) })} placeholder={examples[source.kind]} spellCheck={false} autoCapitalize="none"
          value={source.text} error={error} onChange={(e) => onChange({ text: e.currentTarget.value })}
        />
      )}
      {(source.kind === 'path' || source.kind === 'field') && (
        <Checkbox label={t('hooks.optional')} aria-label={t('hooks.optionalOf', { name: shown })} checked={source.optional ?? false} onChange={(e) => onChange({ optional: e.currentTarget.checked })} />
      )}
    </div>
  );
}

/** The URL and the secret of a hook, which are not shown again: a click beside the dialog does not close it. */
export function HookShownOnce({ hook, onClose }: { hook: Hook; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal opened onClose={onClose} title={t('hooks.onceTitle', { name: visible(hook.name) })} withCloseButton={false} closeOnClickOutside={false} closeOnEscape={false}>
      <Stack gap="md">
        {hook.url !== undefined && (
          <Stack gap="xs" data-hook-url="">
            <span>{t('hooks.urlOnce')}</span>
            <CopyLine>{hookAddress(hook.url, location.origin)}</CopyLine>
            {!hook.signature && <span className="small dim">{t('hooks.signatureHelp.none')}</span>}
          </Stack>
        )}
        {hook.secret !== undefined && (
          <Stack gap="xs" data-hook-secret="">
            <span>{t('hooks.secretOnce')}</span>
            <CopyLine>{hook.secret}</CopyLine>
          </Stack>
        )}
        <Group justify="flex-end"><Button data-autofocus onClick={onClose}>{t('hooks.copied')}</Button></Group>
      </Stack>
    </Modal>
  );
}
