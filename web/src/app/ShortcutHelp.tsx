import { Kbd, Modal } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Facts } from '../parts/Facts.tsx';

export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const sequence = (first: string, second: string) => (
    <>
      <Kbd>{first}</Kbd> {t('shortcuts.then')} <Kbd>{second}</Kbd>
    </>
  );
  return (
    <Modal opened={opened} onClose={onClose} title={t('shortcuts.title')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Facts
        entries={[
          [t('shortcuts.search'), <Kbd>/</Kbd>],
          [t('shortcuts.jobs'), sequence('g', 'j')],
          [t('shortcuts.runs'), sequence('g', 'r')],
          [t('shortcuts.ledger'), sequence('g', 'l')],
          [t('shortcuts.workers'), sequence('g', 'w')],
          [t('shortcuts.help'), <Kbd>?</Kbd>],
        ]}
      />
    </Modal>
  );
}
