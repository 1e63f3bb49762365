import { Button, PasswordInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { makePassword } from '../../lib/password.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import classes from './access.module.css';

interface Props {
  label: string;
  help?: string;
  value: string;
  error: string | undefined;
  /** The autocomplete value for the browser's password manager. */
  autoComplete?: 'new-password' | 'current-password';
  /** Offers to generate one. */
  suggests?: boolean;
  onChange: (value: string) => void;
}

/** A password field; a generated password is shown, so that it can be passed on. */
export function PasswordField({ label, help, value, error, autoComplete = 'new-password', suggests = false, onChange }: Props) {
  const { t } = useTranslation();
  const [suggested, setSuggested] = useState('');
  const suggest = () => {
    const made = makePassword();
    setSuggested(made);
    onChange(made);
  };
  return (
    <div>
      <div className={classes.secret}>
        <PasswordInput
          label={label} description={help} autoComplete={autoComplete} value={value} error={error}
          visibilityToggleButtonProps={{ 'aria-label': t('users.showPassword') }}
          onChange={(e) => onChange(e.currentTarget.value)}
        />
        {suggests && <Button variant="default" onClick={suggest}>{t('users.suggest')}</Button>}
      </div>
      {suggested !== '' && suggested === value && (
        <p>
          <CopyLine>{suggested}</CopyLine> <span className="small dim">{t('users.suggested')}</span>
        </p>
      )}
    </div>
  );
}
