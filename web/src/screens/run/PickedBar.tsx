import { Button, CloseButton } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { plainText } from '../../lib/ansi.ts';
import { mark } from '../../lib/logline.ts';
import type { LogStore } from '../../lib/logstore.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './OutputPanel.module.css';

interface Props {
  store: LogStore;
  picked: [number, number];
  numbers: boolean;
  onClear: () => void;
}

/** The text of some lines, as it is read. */
export function textBetween(store: LogStore, from: number, to: number): string {
  let text = '';
  for (let name = from; name <= to; name++) {
    const line = store.line(name);
    if (!line || (line.marks & mark.hole) !== 0) continue;
    text += `${name > from && (line.marks & mark.goesOn) === 0 ? '\n' : ''}${plainText(line.text)}`;
  }
  return text;
}

/** What can be done with the lines that are picked out. */
export function PickedBar({ store, picked, numbers, onClear }: Props) {
  const { t } = useTranslation();
  const lines = useClipboard({ timeout: 1500 });
  const link = useClipboard({ timeout: 1500 });
  const [from, to] = [store.number(picked[0]), store.number(picked[1])];
  return (
    <div className={classes.picked} role="group" aria-label={t('run.picked')}>
      <span>{!numbers ? t('run.picked') : from === to ? t('run.line', { n: from }) : t('run.lineRange', { from, to })}</span>
      <Button size="compact-xs" variant="default" leftSection={<Icon name={lines.copied ? 'check' : 'copy'} size={12} />} onClick={() => lines.copy(textBetween(store, ...picked))}>
        {lines.copied ? t('common.copied') : t('run.copyLines')}
      </Button>
      <Button size="compact-xs" variant="default" leftSection={<Icon name={link.copied ? 'check' : 'copy'} size={12} />} onClick={() => link.copy(window.location.href)}>
        {link.copied ? t('common.copied') : t('run.copyLink')}
      </Button>
      {numbers && <span className="small dim">{t('run.pickHint')}</span>}
      <CloseButton size="sm" aria-label={t('run.clearPicked')} onClick={onClear} />
    </div>
  );
}
