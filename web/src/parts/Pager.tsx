import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';
import type { useCursorPages } from './useCursorPages.ts';

export function Pager({ pages, nextCursor }: { pages: ReturnType<typeof useCursorPages>; nextCursor: string | null | undefined }) {
  const { t } = useTranslation();
  if (pages.page === 1 && !nextCursor) return null;
  return (
    <Group role="navigation" justify="flex-end" gap="sm" aria-label={t('common.paging')}>
      <Button variant="default" size="xs" leftSection={<Icon name="left" size={14} />} disabled={pages.page === 1} onClick={pages.previous}>
        {t('common.previous')}
      </Button>
      <span className="small dim">{t('common.page', { page: pages.page })}</span>
      <Button variant="default" size="xs" rightSection={<Icon name="right" size={14} />} disabled={!nextCursor} onClick={() => nextCursor && pages.next(nextCursor)}>
        {t('common.next')}
      </Button>
    </Group>
  );
}
