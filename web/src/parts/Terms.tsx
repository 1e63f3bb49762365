import { ActionIcon, Popover } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';
import classes from './Terms.module.css';

/** Explains the four words that these pages are about. */
export function Terms() {
  const { t } = useTranslation();
  const terms = { fire: t('ledger.termFire'), run: t('ledger.termRun'), attempt: t('ledger.termAttempt'), ledger: t('ledger.termLedger') };
  return (
    <Popover position="bottom-start" withinPortal trapFocus shadow="md" width="min(24rem, calc(100vw - 2rem))">
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('ledger.termsOf')} title={t('ledger.termsOf')}><Icon name="question" size={16} /></ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('ledger.terms')}>
        <dl className={classes.terms} tabIndex={-1}>
          {Object.entries(terms).map(([term, text]) => (
            <div key={term}>
              <dt>{t(`ledger.names.${term as keyof typeof terms}`)}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </Popover.Dropdown>
    </Popover>
  );
}
