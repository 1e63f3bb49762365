import { Autocomplete, Button, Group, Modal, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useApply, useDryRun } from '../../api/apply.ts';
import { useCrontab, type CrontabLine } from '../../api/crontab.ts';
import type { Definition } from '../../api/types.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import fieldClasses from './fields.module.css';
import { ImportChanges, ImportOutcome } from './ImportChanges.tsx';
import { ImportLines } from './ImportLines.tsx';
import { keysOf } from './lineKeys.ts';

/** Reports whether a line can be imported. */
function isWhole(line: CrontabLine): boolean {
  return line.job !== undefined && !line.faults?.length;
}

/** Imports jobs from a crontab: parsed lines, changes, and results. */
export function ImportDialog({ text: given = '', onClose }: { text?: string; onClose: () => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState(given);
  const [system, setSystem] = useState(false);
  const [timezone, setTimezone] = useState('');
  const [group, setGroup] = useState('crontab');
  const [prefix, setPrefix] = useState<string>();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [step, setStep] = useState<'lines' | 'changes' | 'outcome'>('lines');
  const file = useRef<HTMLInputElement>(null);
  const zones = useMemo(() => ['UTC', ...Intl.supportedValuesOf('timeZone')], []);
  const wanted = { text, system: system || undefined, timezone: timezone.trim() || undefined, group: group.trim() || undefined, prefix };
  const [request] = useDebouncedValue(wanted, 250);
  const crontab = useCrontab(request);
  // Until the next answer arrives, the previous one is shown.
  const settled = crontab.isSuccess && !crontab.isPlaceholderData && JSON.stringify(request) === JSON.stringify(wanted);
  const apply = useApply();
  // The jobs are applied exactly as they were shown.
  const [reviewed, setReviewed] = useState<Definition[]>([]);
  const dry = useDryRun(reviewed);
  const items = crontab.data?.items;
  const lines = useMemo(() => (text.trim() === '' ? [] : (items ?? [])), [text, items]);
  const lineKeys = useMemo(() => keysOf(lines), [lines]);
  const isLeft = (line: CrontabLine) => left.has(lineKeys.get(line) ?? '');
  const chosen = lines.filter((line) => isWhole(line) && !isLeft(line));
  const jobs = chosen.flatMap((line) => (line.job ? [line.job] : []));

  const open = (picked: File | undefined) => {
    if (!picked) return;
    void picked.text().then((read) => {
      setText(read);
      setLeft(new Set());
      setPrefix(picked.name);
      // System crontabs have a user before each command.
      setSystem(/^(?:crontab|cron\.d.*)$/.test(picked.name));
    });
  };
  const see = () => {
    setReviewed(jobs);
    setStep('changes');
  };
  const back = () => {
    apply.reset();
    setReviewed([]);
    setStep('lines');
  };
  return (
    <Modal opened size="xl" onClose={onClose} title={t('crontab.title')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack gap="md">
        {step === 'lines' && (
          <>
            <Textarea
              className={fieldClasses.mono} label={t('crontab.text')} description={t('crontab.textHelp')} autosize minRows={4} maxRows={10} value={text} spellCheck={false} autoCapitalize="none" data-autofocus
              onChange={(e) => setText(e.currentTarget.value)}
            />
            <Group gap="sm">
              <input ref={file} type="file" hidden aria-label={t('crontab.file')} onChange={(e) => open(e.currentTarget.files?.[0])} />
              <Button size="xs" variant="default" onClick={() => file.current?.click()}>{t('crontab.file')}</Button>
              <Switch label={t('crontab.system')} checked={system} onChange={(e) => setSystem(e.currentTarget.checked)} />
            </Group>
            <div className={fieldClasses.pair}>
              <Autocomplete label={t('editor.timezone')} description={t('crontab.zoneHelp')} placeholder="UTC" data={zones} limit={50} value={timezone} onChange={setTimezone} spellCheck={false} />
              <TextInput className={fieldClasses.mono} label={t('editor.group')} description={t('crontab.groupHelp')} value={group} onChange={(e) => setGroup(e.currentTarget.value)} spellCheck={false} autoCapitalize="none" />
            </div>
            {crontab.error && text.trim() !== '' && <ProblemNotice error={crontab.error} />}
            {lines.length > 0 && (
              <ImportLines
                lines={lines} isWhole={isWhole} isLeft={isLeft}
                onToggle={(line) => {
                  const key = lineKeys.get(line) ?? '';
                  setLeft((before) => (before.has(key) ? new Set([...before].filter((other) => other !== key)) : new Set([...before, key])));
                }}
              />
            )}
          </>
        )}
        {step === 'changes' && <ImportChanges dry={dry} />}
        {step === 'outcome' && apply.data && <ImportOutcome items={apply.data.items} onLeave={onClose} />}
        {apply.error && <ProblemNotice error={apply.error} />}
        <Group justify="flex-end" className="stays">
          {step === 'changes' && <Button variant="default" onClick={back}>{t('crontab.back')}</Button>}
          <Button variant="default" onClick={onClose}>{step === 'outcome' ? t('common.close') : t('common.cancel')}</Button>
          {step === 'lines' && <Button disabled={jobs.length === 0 || !settled} onClick={see}>{t('crontab.see', { count: jobs.length })}</Button>}
          {step === 'changes' && <Button loading={apply.isPending} disabled={!dry.isSuccess} onClick={() => apply.mutate(reviewed, { onSuccess: () => setStep('outcome') })}>{t('crontab.apply', { count: reviewed.length })}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}
