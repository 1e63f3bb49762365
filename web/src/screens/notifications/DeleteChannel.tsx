import { useTranslation } from 'react-i18next';
import { useDeleteChannel } from '../../api/channels.ts';
import type { Channel } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { ChannelUse } from './ChannelUse.tsx';

/** Deletes a channel; lists the jobs that would be left with it. */
export function DeleteChannel({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteChannel();
  const name = visible(channel.name);
  const confirm = () =>
    remove.mutate(channel.name, {
      onSuccess: () => {
        showNotice(t, t('channels.deleted', { name }));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('channels.deleteTitle', { name })} confirm={t('channels.deleteConfirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      <p>{channel.jobs === 0 ? t('channels.deleteUnused') : t('channels.deleteUsed', { count: channel.jobs })}</p>
      {channel.jobs > 0 && <ChannelUse name={channel.name} />}
      {channel.pending !== undefined && channel.pending > 0 && <p>{t('channels.deletePending')}</p>}
    </ConfirmDialog>
  );
}
