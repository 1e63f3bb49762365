import { Button } from '@mantine/core';
import type { useTestChannel } from '../api/channels.ts';
import { useTranslation } from 'react-i18next';
import { sentences } from '../lib/lists.ts';
import { visible } from '../lib/visible.ts';
import { deliveryTrouble } from './deliveryTrouble.ts';
import { DeliveryStatus } from './DeliveryStatus.tsx';
import { Icon } from './icons.tsx';
import { ProblemNotice } from './ProblemNotice.tsx';

type Test = ReturnType<typeof useTestChannel>;

/** Sends a test message to a channel. The mutation may be shared by the channels of a list. */
export function TestButton({ name, test, compact = false }: { name: string; test: Test; compact?: boolean }) {
  const { t } = useTranslation();
  return (
    <Button
      variant="default" size={compact ? 'xs' : 'sm'} leftSection={<Icon name="send" size={14} />} loading={test.isPending && test.variables === name} aria-label={t('channels.testOf', { name: visible(name) })}
      onClick={() => test.mutate(name)}
    >
      {t('channels.test')}
    </Button>
  );
}

/** The result of a test: what the receiver answered, or why it was not reached. */
export function TestResult({ test }: { test: Test }) {
  const { t, i18n } = useTranslation();
  if (test.error) return <ProblemNotice error={test.error} />;
  const delivery = test.data;
  if (!delivery || test.isPending) return null;
  const trouble = deliveryTrouble(t, delivery);
  const text = delivery.status === 'sent' ? sentences([t('channels.tested'), delivery.answer === undefined ? undefined : t('channels.answered', { status: delivery.answer })], i18n.language) : trouble.said;
  return (
    <div role="status" className="spaced" data-test={delivery.status}>
      <DeliveryStatus delivery={delivery} />
      <span>{text}</span>
      {trouble.detail && <code className="break">{visible(trouble.detail)}</code>}
    </div>
  );
}
