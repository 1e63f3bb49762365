import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ProblemNotice } from './ProblemNotice.tsx';

interface Props {
  title: string;
  confirm: string;
  cancel?: string;
  children: ReactNode;
  /** Reversible, so the button is not red. */
  mild?: boolean;
  busy?: boolean;
  error?: Error | null;
  onConfirm: () => void;
  onCancel: () => void;
}

/** Asks once before an action with consequences, and describes them. */
export function ConfirmDialog({ title, confirm, cancel, children, mild = false, busy = false, error, onConfirm, onCancel }: Props) {
  const { t } = useTranslation();
  return (
    <Modal opened onClose={onCancel} title={title} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack gap="md">
        <div className="break">{children}</div>
        {error && <ProblemNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>{cancel ?? t('common.cancel')}</Button>
          <Button {...(!mild && { color: 'red' })} loading={busy} onClick={onConfirm}>{confirm}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
