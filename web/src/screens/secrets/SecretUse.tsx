import { useTranslation } from 'react-i18next';
import { useSecret } from '../../api/secrets.ts';
import { visible } from '../../lib/visible.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { UsedByJobs } from '../../parts/UsedByJobs.tsx';
import { Waiting } from '../../parts/Waiting.tsx';

/** The jobs that refer to a secret. */
export function SecretUse({ name }: { name: string }) {
  const { t } = useTranslation();
  const secret = useSecret(name);
  if (secret.error && !secret.data) return <ProblemNotice error={secret.error} onRetry={() => void secret.refetch()} />;
  if (!secret.data) return <Waiting rows={1} />;
  return <UsedByJobs label={t('usedBy.show', { name: visible(name) })} names={secret.data.usedBy ?? []} count={secret.data.jobs} />;
}
