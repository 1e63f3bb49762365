import { useTranslation } from 'react-i18next';
import { LinkedText } from './LinkedText.tsx';
import classes from './RunbookText.module.css';

/** The description of a job as its author wrote it, with links. */
export function RunbookText({ children }: { children: string }) {
  const { t } = useTranslation();
  // Focusable, because a long one has to be scrolled with the keyboard.
  return <div className={classes.text} tabIndex={0} role="region" aria-label={t('job.description')} data-runbook-text=""><LinkedText>{children}</LinkedText></div>;
}
