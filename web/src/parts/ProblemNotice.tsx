import { Alert, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Problem, type Fault } from '../api/problem.ts';
import { visible } from '../lib/visible.ts';
import { Icon } from './icons.tsx';
import { faultText, problemText } from './problemText.ts';

interface Props {
  error: Error;
  onRetry?: () => void;
  /** The faults to list; all by default. A form passes those that belong to none of its fields. */
  faults?: readonly Fault[];
}

/** An error with its details, a hint, and the id for the server's log. */
export function ProblemNotice({ error, onRetry, faults }: Props) {
  const { t, i18n } = useTranslation();
  const { text, hint } = problemText(t, i18n.language, error);
  // A missing role is not an error, neither of the user nor of the console.
  const refused = error instanceof Problem && error.status === 403;
  const listed = faults ?? (error instanceof Problem ? error.faults : []);
  return (
    <Alert
      color={refused ? 'gray' : 'red'} variant="light" title={refused ? t('noAccess.title') : t('problem.title')} icon={<Icon name={refused ? 'key' : 'warn'} />}
      role={refused ? 'status' : 'alert'}
    >
      <div className="break">{visible(text)}</div>
      {hint && <div className="break">{visible(hint)}</div>}
      {listed.length > 0 && (
        <ul>
          {listed.map((fault, i) => (
            <li key={i} className="break">
              {fault.location && <code>{visible(fault.location)}</code>} {visible(faultText(t, i18n.language, fault))}
            </li>
          ))}
        </ul>
      )}
      {error instanceof Problem && error.requestId && <div className="small dim">{t('common.details', { id: error.requestId })}</div>}
      {refused && <div className="break">{t('noAccess.ask')}</div>}
      {onRetry && !refused && (
        <Button mt="xs" size="xs" variant="default" onClick={onRetry}>
          {t('common.retry')}
        </Button>
      )}
    </Alert>
  );
}
