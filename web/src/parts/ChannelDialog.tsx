import { Button, Group, Modal, PasswordInput, SegmentedControl, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useSaveChannel, useTestChannel } from '../api/channels.ts';
import { Problem } from '../api/problem.ts';
import type { Channel } from '../api/types.ts';
import { visible } from '../lib/visible.ts';
import { channelForm, definitionOfChannel, type ChannelForm } from './channelForm.ts';
import { CopyLine } from './CopyLine.tsx';
import { fieldFaults } from './fieldFaults.ts';
import { ProblemNotice } from './ProblemNotice.tsx';
import { TestButton, TestResult } from './TestChannel.tsx';

const fields = ['name', 'kind', 'url', 'secret', 'to', 'disabled'] as const;

interface Props {
  /** Absent for a new one. */
  channel?: Channel | undefined;
  onSaved?: (channel: Channel) => void;
  onClose: () => void;
}

/** Creates or changes a channel; then shows a generated signing secret, which cannot be shown again, and offers a test. */
export function ChannelDialog({ channel, onSaved, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const save = useSaveChannel();
  const [form, setForm] = useState(() => channelForm(channel));
  const { at, rest } = fieldFaults(t, i18n.language, save.error, fields);
  const refused = save.error instanceof Problem ? save.error.code : undefined;
  const set = (part: Partial<ChannelForm>) => {
    setForm({ ...form, ...part });
    if (save.isError) save.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: form.name.trim(), definition: definitionOfChannel(form), version: channel?.version }, { onSuccess: (saved) => onSaved?.(saved) });
  };
  if (save.data) return <SavedChannel channel={save.data} isNew={!channel} onClose={onClose} />;
  const taken = refused === 'stale' && !channel;
  return (
    <Modal opened onClose={onClose} title={channel ? t('channels.editTitle', { name: visible(channel.name) }) : t('channels.newTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          {!channel && (
            <TextInput
              label={t('channels.name')} description={t('channels.nameHelp')} placeholder="ops" required data-autofocus spellCheck={false} autoCapitalize="none" autoComplete="off" maxLength={128}
              value={form.name} error={taken ? t('channels.nameTaken') : at('name')} onChange={(e) => set({ name: e.currentTarget.value })}
            />
          )}
          <SegmentedControl
            aria-label={t('channels.kind')} value={form.kind} data={[{ value: 'webhook', label: t('channels.kinds.webhook') }, { value: 'mail', label: t('channels.kinds.mail') }]}
            onChange={(value) => set({ kind: value as ChannelForm['kind'] })}
          />
          {form.kind === 'webhook' ? <WebhookFields form={form} channel={channel?.kind === 'webhook' ? channel : undefined} at={at} set={set} /> : (
            <Textarea
              label={t('channels.to')} description={t('channels.toHelp')} placeholder="ops@example.com" required autosize minRows={2} maxRows={8} spellCheck={false} autoCapitalize="none"
              value={form.to} error={at('to')} onChange={(e) => set({ to: e.currentTarget.value })}
            />
          )}
          {channel && <Switch label={t('channels.disabled')} description={t('channels.disabledHelp')} checked={form.disabled} onChange={(e) => set({ disabled: e.currentTarget.checked })} />}
          {refused === 'stale' && channel && <p role="alert">{t('channels.stale')}</p>}
          {save.error && refused !== 'stale' && (refused !== 'invalid' || rest.length > 0) && <ProblemNotice error={save.error} faults={rest} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={save.isPending}>{t(channel ? 'editor.save' : 'channels.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface FieldsProps {
  form: ChannelForm;
  /** The webhook that is changed. */
  channel: Channel | undefined;
  at: (field: string) => string | undefined;
  set: (part: Partial<ChannelForm>) => void;
}

function WebhookFields({ form, channel, at, set }: FieldsProps) {
  const { t } = useTranslation();
  const own = !form.newSecret;
  return (
    <>
      <PasswordInput
        label={t('channels.url')} description={channel?.origin ? t('channels.urlKept', { origin: visible(channel.origin) }) : t('channels.urlHelp')} placeholder={channel ? t('channels.unchanged') : 'https://hooks.example.com/…'}
        required={!channel} autoComplete="off" spellCheck={false} value={form.url} error={at('url')} visibilityToggleButtonProps={{ 'aria-label': t('channels.showUrl') }} onChange={(e) => set({ url: e.currentTarget.value })}
      />
      {own && (
        <PasswordInput
          label={t('channels.secret')} description={t(channel ? 'channels.secretKept' : 'channels.secretHelp')} placeholder={channel ? t('channels.unchanged') : 'whsec_…'} autoComplete="off" spellCheck={false}
          value={form.secret} error={at('secret')} visibilityToggleButtonProps={{ 'aria-label': t('channels.showSecret') }} onChange={(e) => set({ secret: e.currentTarget.value })}
        />
      )}
      {channel && <Switch label={t('channels.newSecret')} description={t('channels.newSecretHelp')} checked={form.newSecret} onChange={(e) => set({ newSecret: e.currentTarget.checked })} />}
    </>
  );
}

// A generated secret would be lost by a click beside the dialog: it then closes with its button only.
function SavedChannel({ channel, isNew, onClose }: { channel: Channel; isNew: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const test = useTestChannel();
  const once = channel.secret !== undefined;
  return (
    <Modal
      opened onClose={onClose} title={t(isNew ? 'channels.madeTitle' : 'channels.savedTitle', { name: visible(channel.name) })} withCloseButton={!once} closeOnClickOutside={!once} closeOnEscape={!once}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Stack gap="md">
        {channel.secret !== undefined && (
          <Stack gap="xs" data-secret="">
            <span>{t('channels.secretOnce')}</span>
            <CopyLine>{channel.secret}</CopyLine>
          </Stack>
        )}
        <span>{t('channels.tryIt')}</span>
        <div><TestButton name={channel.name} test={test} /></div>
        <TestResult test={test} />
        <Group justify="flex-end"><Button data-autofocus onClick={onClose}>{t(once ? 'channels.copied' : 'channels.done')}</Button></Group>
      </Stack>
    </Modal>
  );
}
