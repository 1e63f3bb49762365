import { Alert, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../parts/icons.tsx';
import { useForm } from './context.ts';
import classes from './Editor.module.css';

/** Offers to remove a redirection because of which the runs would have no output. */
export function Redirected() {
  const { t } = useTranslation();
  const { doc, definition, redirect } = useForm();
  const command = definition.command;
  if (!redirect || typeof command !== 'string' || !command.endsWith(redirect)) return null;
  return (
    <Alert variant="light" color="yellow" icon={<Icon name="warn" />} role="status" data-redirected="">
      <div className={classes.line}>
        <span>{t('editor.redirected')}</span>
        <Button size="xs" variant="default" onClick={() => doc.set(['command'], command.slice(0, -redirect.length))}>{t('editor.removeRedirect')}</Button>
      </div>
    </Alert>
  );
}
