import { Button, Group, Modal, NativeSelect, PasswordInput, SegmentedControl, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useSaveChannel, useTestChannel } from '../api/channels.ts';
import { Problem } from '../api/problem.ts';
import type { Channel } from '../api/types.ts';
import { useVersion } from '../api/version.ts';
import { visible } from '../lib/visible.ts';
import classes from './ChannelDialog.module.css';
import { channelForm, channelKinds, definitionOfChannel, hasLanguage, isRequired, secretsOf, type ChannelForm, type SecretField } from './channelForm.ts';
import { CopyLine } from './CopyLine.tsx';
import { fieldFaults } from './fieldFaults.ts';
import { ProblemNotice } from './ProblemNotice.tsx';
import { TestButton, TestResult } from './TestChannel.tsx';

const fields = ['name', 'kind', 'url', 'secret', 'key', 'chat', 'language', 'to', 'disabled'] as const;

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
  const sends = useVersion().data?.mail;
  const [form, setForm] = useState(() => channelForm(channel, i18n.language));
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
  const kept = channel?.kind === form.kind ? channel : undefined;
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
          <NativeSelect
            label={t('channels.kind')} description={t(`channels.hints.${form.kind}`)} value={form.kind} error={at('kind')} data={channelKinds.map((value) => ({ value, label: t(`channels.kinds.${value}`) }))}
            onChange={(e) => set({ kind: e.currentTarget.value as ChannelForm['kind'] })}
          />
          {form.kind === 'mail' && sends === false && <p className={classes.hint} role="status" data-no-mail="">{t('channels.noMail')}</p>}
          {form.kind === 'mail' && (
            <Textarea
              label={t('channels.to')} description={t('channels.toHelp')} placeholder="ops@example.com" required autosize minRows={2} maxRows={8} spellCheck={false} autoCapitalize="none"
              value={form.to} error={at('to')} onChange={(e) => set({ to: e.currentTarget.value })}
            />
          )}
          {secretsOf(form.kind).map((field) => <SecretInput key={field} field={field} form={form} channel={kept} at={at} set={set} />)}
          {form.kind === 'webhook' && kept && <Switch label={t('channels.newSecret')} description={t('channels.newSecretHelp')} checked={form.newSecret} onChange={(e) => set({ newSecret: e.currentTarget.checked })} />}
          {hasLanguage(form.kind) && (
            <Stack gap={4}>
              <span>{t('channels.language')}</span>
              <SegmentedControl
                aria-label={t('channels.language')} value={form.language} data={[{ value: 'en', label: 'English' }, { value: 'zh', label: '中文' }]}
                onChange={(value) => set({ language: value as ChannelForm['language'] })}
              />
            </Stack>
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

interface FieldProps {
  field: SecretField;
  form: ChannelForm;
  /** The channel of this kind that is changed. */
  channel: Channel | undefined;
  at: (field: string) => string | undefined;
  set: (part: Partial<ChannelForm>) => void;
}

/** A field that is never shown again; empty, it keeps the value of an existing channel. */
function SecretInput({ field, form, channel, at, set }: FieldProps) {
  const { t } = useTranslation();
  const { kind } = form;
  if (field === 'secret' && kind === 'webhook' && form.newSecret) return null;
  const own = kind === 'webhook' && (field === 'url' ? t('channels.urlHelp') : t('channels.secretHelp'));
  const keeps = field === 'url' && channel?.origin ? t('channels.urlKept', { origin: visible(channel.origin) }) : t('channels.secretKept');
  return (
    <PasswordInput
      label={t(`channels.${field}`)} description={channel ? keeps : own || t(isRequired(kind, field) ? 'channels.fieldHelp' : 'channels.fieldOptional')} placeholder={channel ? t('channels.unchanged') : placeholders[kind]?.[field]}
      required={!channel && isRequired(kind, field)} autoComplete="off" spellCheck={false} value={form[field]} error={at(field)}
      visibilityToggleButtonProps={{ 'aria-label': t('channels.showField', { field: t(`channels.${field}`) }) }} onChange={(e) => set({ [field]: e.currentTarget.value } as Partial<ChannelForm>)}
    />
  );
}

/** What the values of a kind look like. */
const placeholders: Partial<Record<ChannelForm['kind'], Partial<Record<SecretField, string>>>> = {
  webhook: { url: 'https://hooks.example.com/…', secret: 'whsec_…' },
  slack: { url: 'https://hooks.slack.com/services/…' },
  pagerduty: { url: 'https://events.pagerduty.com/v2/enqueue' },
  teams: { url: 'https://….logic.azure.com/workflows/…' },
  discord: { url: 'https://discord.com/api/webhooks/…' },
  mattermost: { url: 'https://chat.example.com/hooks/…' },
  telegram: { url: 'https://api.telegram.org', key: '110201543:AAH…', chat: '-1001234567890' },
  dingtalk: { url: 'https://oapi.dingtalk.com/robot/send?access_token=…', secret: 'SEC…' },
  feishu: { url: 'https://open.feishu.cn/open-apis/bot/v2/hook/…' },
  wecom: { url: 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…' },
  ntfy: { url: 'https://ntfy.sh/my-topic', key: 'tk_…' },
  opsgenie: { url: 'https://api.opsgenie.com' },
  ping: { url: 'https://hc-ping.com/…' },
};

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
