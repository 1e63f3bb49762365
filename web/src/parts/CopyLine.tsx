import { ActionIcon } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import classes from './CopyLine.module.css';
import { Icon } from './icons.tsx';

/** A command line with a copy button. */
export function CopyLine({ children }: { children: string }) {
  const { t } = useTranslation();
  const clipboard = useClipboard({ timeout: 1500 });
  return (
    <span className={classes.line}>
      <code className="break">{children}</code>
      <ActionIcon variant="subtle" size="sm" aria-label={clipboard.copied ? t('common.copied') : t('common.copy')} onClick={() => clipboard.copy(children)}>
        <Icon name={clipboard.copied ? 'check' : 'copy'} size={14} />
      </ActionIcon>
    </span>
  );
}
