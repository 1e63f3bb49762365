import { ActionIcon, Popover } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** A "?" beside a title, which shows a sentence of explanation. */
export function HelpHint({ of, text }: { of: string; text: string }) {
  const { t } = useTranslation();
  return (
    <Popover withArrow width={280} position="bottom-start" trapFocus={false} returnFocus>
      <Popover.Target>
        <ActionIcon variant="default" size={24} radius="xl" aria-label={t('charts.help', { name: of })}>?</ActionIcon>
      </Popover.Target>
      <Popover.Dropdown><p className="small">{text}</p></Popover.Dropdown>
    </Popover>
  );
}
