import { Button, Group, Modal, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useApply, useDryRun } from '../../api/apply.ts';
import { useChannels, useCreateMailChannels } from '../../api/channels.ts';
import { useCrontab } from '../../api/crontab.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useCan } from '../../parts/session.ts';
import fieldClasses from './fields.module.css';
import { ImportChanges, ImportOutcome } from './ImportChanges.tsx';
import { ImportLines } from './ImportLines.tsx';
import { ImportChannels, ImportMail } from './ImportMail.tsx';
import { addressesOf, asMailTo, channelsFor, rowsOf, type Decision, type Decisions, type Row } from './importPlan.ts';
import { keysOf } from './lineKeys.ts';
import { ZoneInput } from './ZoneInput.tsx';

/** Imports jobs from a crontab: parsed lines, changes, and results. */
export function ImportDialog({ text: given = '', onClose }: { text?: string; onClose: () => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState(given);
  const [system, setSystem] = useState(false);
  const [timezone, setTimezone] = useState('');
  const [group, setGroup] = useState('crontab');
  const [prefix, setPrefix] = useState<string>();
  const [decisions, setDecisions] = useState<Decisions>(new Map());
  const [picked, setPicked] = useState<string>();
  const [creating, setCreating] = useState(false);
  const [step, setStep] = useState<'lines' | 'changes' | 'outcome'>('lines');
  const file = useRef<HTMLInputElement>(null);
  const wanted = { text, system: system || undefined, timezone: timezone.trim() || undefined, group: group.trim() || undefined, prefix };
  const [request] = useDebouncedValue(wanted, 250);
  const crontab = useCrontab(request);
  // Until the next answer arrives, the previous one is shown.
  const settled = crontab.isSuccess && !crontab.isPlaceholderData && JSON.stringify(request) === JSON.stringify(wanted);
  const channels = useChannels().data?.items;
  const apply = useApply();
  // The jobs are applied exactly as they were shown.
  const [reviewed, setReviewed] = useState<Row[]>([]);
  const jobs = useMemo(() => reviewed.flatMap((row) => (row.job ? [row.job] : [])), [reviewed]);
  const titles = useMemo(() => new Map(jobs.map((job) => [job.name, job.title])), [jobs]);
  const dry = useDryRun(jobs);
  const admin = useCan('admin');
  const newChannels = channelsFor(reviewed, crontab.data?.channels ?? []);
  const createChannels = useCreateMailChannels();
  const items = crontab.data?.items;
  const lines = useMemo(() => (text.trim() === '' ? [] : (items ?? [])), [text, items]);
  const lineKeys = useMemo(() => keysOf(lines), [lines]);
  const addresses = useMemo(() => addressesOf(lines), [lines]);
  const channel = picked ?? (addresses.length > 0 ? asMailTo : '');
  const rows = useMemo(() => rowsOf(lines, lineKeys, decisions, channel), [lines, lineKeys, decisions, channel]);
  const taken = rows.filter((row) => row.taken);
  // A job of this name exists that was not imported from this line.
  const clashes = new Set(reviewed.flatMap((row) => (!row.line.exists && dry.data?.items.some((item) => item.name === row.job?.name && (item.result === 'changed' || item.result === 'unchanged')) ? [row.job?.name] : [])));

  const decide = (changed: readonly Row[], decision: Decision) =>
    setDecisions((before) => new Map([...before, ...changed.map(({ key }) => [key, { ...before.get(key), ...decision }] as const)]));
  const open = (chosen: File | undefined) => {
    if (!chosen) return;
    void chosen.text().then((read) => {
      setText(read);
      setDecisions(new Map());
      setPrefix(chosen.name);
      // System crontabs have a user before each command.
      setSystem(/^(?:crontab|cron\.d.*)$/.test(chosen.name));
    });
  };
  const see = () => {
    setReviewed(taken);
    setStep('changes');
  };
  const save = () => {
    const done = { onSuccess: () => setStep('outcome') };
    if (!admin || newChannels.length === 0) apply.mutate(jobs, done);
    else createChannels.mutate(newChannels, { onSuccess: () => apply.mutate(jobs, done) });
  };
  const back = () => {
    apply.reset();
    createChannels.reset();
    setReviewed([]);
    setStep('lines');
  };
  return (
    <Modal opened size="xl" closeOnEscape={!creating} onClose={onClose} title={t('crontab.title')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack gap="md">
        {step === 'lines' && (
          <>
            <Textarea
              className={fieldClasses.mono} label={t('crontab.text')} description={t('crontab.textHelp')} autosize minRows={4} maxRows={6} value={text} spellCheck={false} autoCapitalize="none" data-autofocus
              onChange={(e) => setText(e.currentTarget.value)}
            />
            <Group gap="sm">
              <input ref={file} type="file" hidden aria-label={t('crontab.file')} onChange={(e) => open(e.currentTarget.files?.[0])} />
              <Button size="xs" variant="default" onClick={() => file.current?.click()}>{t('crontab.file')}</Button>
              <Switch label={t('crontab.system')} checked={system} onChange={(e) => setSystem(e.currentTarget.checked)} />
            </Group>
            <div className={fieldClasses.pair}>
              <ZoneInput label={t('editor.timezone')} description={t('crontab.zoneHelp')} value={timezone} onChange={setTimezone} />
              <TextInput className={fieldClasses.mono} label={t('editor.group')} description={t('crontab.groupHelp')} value={group} onChange={(e) => setGroup(e.currentTarget.value)} spellCheck={false} autoCapitalize="none" />
            </div>
            {crontab.error && text.trim() !== '' && <ProblemNotice error={crontab.error} />}
            {rows.some((row) => row.whole) && <ImportMail addresses={addresses} channels={channels} value={channel} onChange={setPicked} creating={creating} onCreating={setCreating} />}
            {rows.length > 0 && <ImportLines rows={rows} onDecide={decide} />}
          </>
        )}
        {step === 'changes' && <ImportChannels channels={newChannels} mails={channel === asMailTo && reviewed.some((row) => row.job?.notify)} />}
        {step === 'changes' && <ImportChanges dry={dry} rows={reviewed} clashes={clashes} />}
        {step === 'outcome' && apply.data && <ImportOutcome items={apply.data.items} titles={titles} onLeave={onClose} />}
        {createChannels.error && <ProblemNotice error={createChannels.error} />}
        {apply.error && <ProblemNotice error={apply.error} />}
        <Group justify="flex-end" className="stays">
          {step === 'changes' && <Button variant="default" onClick={back}>{t('crontab.back')}</Button>}
          <Button variant="default" onClick={onClose}>{step === 'outcome' ? t('common.close') : t('common.cancel')}</Button>
          {step === 'lines' && <Button disabled={taken.length === 0 || taken.some((row) => row.nameFault) || !settled} onClick={see}>{t('crontab.see', { count: taken.length })}</Button>}
          {step === 'changes' && <Button loading={createChannels.isPending || apply.isPending} disabled={!dry.isSuccess || clashes.size > 0} onClick={save}>{t('crontab.apply', { count: jobs.length })}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}
