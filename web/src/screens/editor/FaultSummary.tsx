import { UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../parts/icons.tsx';
import classes from './FaultSummary.module.css';
import { labels } from './labels.ts';
import type { Shown } from './useFaults.ts';

/** The number of faults; expanded, a list with a link to each. */
export function FaultSummary({ faults, onShow }: { faults: readonly Shown[]; onShow: (fault: Shown) => void }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const errors = faults.filter((fault) => fault.severity === 'error').length;
  const label = (fault: Shown) => {
    const found = fault.field === undefined ? undefined : labels[fault.field];
    return found ? t(`editor.${found.label}`) : fault.location;
  };
  return (
    <div className={classes.summary}>
      <span role="status" className="unseen">{errors > 0 ? t('editor.faults', { count: errors }) : ''}</span>
      {faults.length > 0 && (
        <UnstyledButton className={classes.count} data-wrong={errors > 0} aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="warn" size={16} />
          {errors > 0 ? t('editor.faults', { count: errors }) : t('editor.warnings', { count: faults.length })}
        </UnstyledButton>
      )}
      {open && faults.length > 0 && (
        <ul className={classes.faults} aria-label={t('editor.faultList')}>
          {faults.map((fault, i) => (
            <li key={i}>
              <UnstyledButton className={classes.fault} onClick={() => onShow(fault)}>
                <strong>{label(fault)}</strong> <span className="dim">{t('editor.line', { line: fault.line })}</span> <span>{fault.text}</span>
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
