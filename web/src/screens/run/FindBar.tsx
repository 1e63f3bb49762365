import { ActionIcon, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Stream } from '../../lib/logline.ts';
import { mostMatches, type Wanted } from '../../lib/logsearch.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './OutputPanel.module.css';
import type { Found } from './useLogSearch.ts';

interface Props {
  only: Stream | undefined;
  onOnly: (only: Stream | undefined) => void;
  wanted: Wanted;
  found: Found;
  onWanted: (wanted: Wanted) => void;
  onGo: (back: boolean) => void;
  onLeave: () => void;
}

/** Selects the stream and searches the output; the key “/” focuses it. */
export function FindBar({ only, onOnly, wanted, found, onWanted, onGo, onLeave }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(wanted.text);
  const report = useDebouncedCallback((next: string) => onWanted({ ...wanted, text: next }), 120);
  const wrong = found.fault === 'invalid' || found.fault === 'explosive';
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      onGo(event.shiftKey);
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      onLeave();
    }
  };
  return (
    <div className={classes.find} role="search" aria-label={t('run.find')} data-looking={wanted.text !== '' || undefined}>
      <SegmentedControl
        size="xs" className={classes.stream} value={only ?? 'all'} onChange={(value) => onOnly(value === 'all' ? undefined : (value as Stream))} aria-label={t('run.stream')}
        data={[{ value: 'all', label: t('run.all') }, { value: 'stdout', label: t('run.stdout') }, { value: 'stderr', label: t('run.stderr') }]}
      />
      <TextInput
        size="xs" className={classes.findField} data-search="" role="searchbox" type="text" aria-label={t('run.find')} placeholder={t('run.find')} value={text} maxLength={500} spellCheck={false} autoCapitalize="none"
        error={wrong} leftSection={<Icon name="search" size={14} />}
        onChange={(event) => {
          setText(event.currentTarget.value);
          report(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <Toggle label={t('run.matchCase')} sign="Aa" on={wanted.matchCase} onClick={() => onWanted({ ...wanted, text, matchCase: !wanted.matchCase })} />
      <Toggle label={t('run.regex')} sign=".*" on={wanted.regex} onClick={() => onWanted({ ...wanted, text, regex: !wanted.regex })} />
      {wanted.text !== '' && (
        <>
          <ActionIcon variant="default" size={30} aria-label={t('run.previousMatch')} title={t('run.previousMatch')} disabled={found.total === 0} onClick={() => onGo(true)}><Icon name="up" size={14} /></ActionIcon>
          <ActionIcon variant="default" size={30} aria-label={t('run.nextMatch')} title={t('run.nextMatch')} disabled={found.total === 0} onClick={() => onGo(false)}><Icon name="down" size={14} /></ActionIcon>
          <span className={classes.count} role="status" data-matches={found.searching ? undefined : found.total}>
            {wrong && <span className={classes.wrong}>{t(found.fault === 'invalid' ? 'run.badRegex' : 'run.slowRegex')}</span>}
            {!wrong && found.fault === undefined && (
              found.total === 0 && !found.searching ? t('run.noMatch') : t(found.rank > 0 ? 'run.matchOf' : 'run.matches', { rank: found.rank, total: found.total >= mostMatches ? `${mostMatches}+` : found.total })
            )}
          </span>
        </>
      )}
    </div>
  );
}

function Toggle({ label, sign, on, onClick }: { label: string; sign: string; on: boolean; onClick: () => void }) {
  return (
    <ActionIcon variant={on ? 'filled' : 'default'} size={30} aria-label={label} title={label} aria-pressed={on} onClick={onClick}>
      <span className={classes.sign} aria-hidden="true">{sign}</span>
    </ActionIcon>
  );
}
