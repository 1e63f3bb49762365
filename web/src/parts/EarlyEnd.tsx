import { Alert, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';
import classes from './EarlyEnd.module.css';

/** Shown if a page ends early: the server reached the limit of one answer, and there may be more results. */
export function EarlyEnd({ found, busy, onGoOn }: { found: number; busy: boolean; onGoOn: () => void }) {
  const { t } = useTranslation();
  return (
    <Alert variant="light" color="gray" icon={<Icon name="search" />} data-early="">
      <div className={classes.line}>
        <span>{found === 0 ? t('early.nothing') : t('early.some')}</span>
        <Button size="xs" variant="default" loading={busy} onClick={onGoOn}>{t('early.goOn')}</Button>
      </div>
    </Alert>
  );
}
