import { useTranslation } from 'react-i18next';
import { useChannel } from '../../api/channels.ts';
import { visible } from '../../lib/visible.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { UsedByJobs } from '../../parts/UsedByJobs.tsx';
import { Waiting } from '../../parts/Waiting.tsx';

/** The jobs that notify a channel. */
export function ChannelUse({ name }: { name: string }) {
  const { t } = useTranslation();
  const channel = useChannel(name);
  if (channel.error && !channel.data) return <ProblemNotice error={channel.error} onRetry={() => void channel.refetch()} />;
  if (!channel.data) return <Waiting rows={1} />;
  return <UsedByJobs label={t('usedBy.show', { name: visible(name) })} names={channel.data.usedBy ?? []} count={channel.data.jobs} />;
}
