import { Button, CloseButton } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { LogStore } from '../../lib/logstore.ts';
import { textBetween } from '../../lib/logtext.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './OutputPanel.module.css';

interface Props {
  store: LogStore;
  picked: [number, number];
  numbers: boolean;
  onClear: () => void;
}

/** Actions on the highlighted lines. */
export function PickedBar({ store, picked, numbers, onClear }: Props) {
  const { t } = useTranslation();
  const lines = useClipboard({ timeout: 1500 });
  const link = useClipboard({ timeout: 1500 });
  const [from, to] = [store.number(picked[0]), store.number(picked[1])];
  return (
    <div className={classes.picked} role="group" aria-label={t('run.picked')}>
      <span>{!numbers ? t('run.picked') : from === to ? t('run.line', { n: from }) : t('run.lineRange', { from, to })}</span>
      <Button size="compact-xs" variant="default" leftSection={<Icon name={lines.copied ? 'check' : 'copy'} size={12} />} onClick={() => lines.copy(textBetween(store, { name: picked[0], at: 0 }, { name: picked[1], at: Infinity }))}>
        {lines.copied ? t('common.copied') : t('run.copyLines')}
      </Button>
      <Button size="compact-xs" variant="default" leftSection={<Icon name={link.copied ? 'check' : 'copy'} size={12} />} onClick={() => link.copy(window.location.href)}>
        {link.copied ? t('common.copied') : t('run.copyLink')}
      </Button>
      {numbers && <span className={classes.byMouse}>{t('run.pickHint')}</span>}
      {numbers && <span className={classes.byFinger}>{t('run.pickHintTouch')}</span>}
      <CloseButton size="sm" aria-label={t('run.clearPicked')} onClick={onClear} />
    </div>
  );
}
