import { Alert, Button, Modal, Stack } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useVerification, type Verification } from '../../api/audit.ts';
import { visible } from '../../lib/visible.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';

/** Verifies the whole chain on the server and shows progress and result. */
export function VerifyChain() {
  const { t, i18n } = useTranslation();
  const [checked, setChecked] = useState(0);
  const verification = useVerification(setChecked);
  const [opened, setOpened] = useState(false);
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const start = () => {
    abort.current = new AbortController();
    setChecked(0);
    setOpened(true);
    verification.mutate(abort.current.signal);
  };
  const close = () => {
    abort.current?.abort();
    setOpened(false);
  };
  return (
    <>
      <Button variant="default" leftSection={<Icon name="check" size={16} />} onClick={start}>{t('audit.verify')}</Button>
      <Modal opened={opened} onClose={close} title={t('audit.verify')} closeButtonProps={{ 'aria-label': t('common.close') }}>
        <div aria-live="polite">
          {verification.isPending && <p>{t('audit.verifying', { count: checked, n: new Intl.NumberFormat(i18n.language).format(checked) })}</p>}
          {verification.data && <Outcome done={verification.data} />}
        </div>
        {verification.error && <ProblemNotice error={verification.error} onRetry={start} />}
      </Modal>
    </>
  );
}

function Outcome({ done }: { done: Verification }) {
  const { t } = useTranslation();
  const intact = done.faults.length === 0;
  return (
    <Stack gap="md" data-intact={intact}>
      <Alert color={intact ? 'green' : 'red'} variant="light" icon={<Icon name={intact ? 'check' : 'warn'} />} title={t(intact ? 'audit.intactTitle' : 'audit.brokenTitle')}>
        {intact ? t('audit.intact', { count: done.checked }) : t('audit.broken', { count: done.faults.length, checked: done.checked })}
        {done.waiting > 0 && <div>{t('audit.waiting', { count: done.waiting })}</div>}
      </Alert>
      {!intact && (
        <ul>
          {done.faults.map((fault, i) => (
            <li key={i} className="break" title={visible(fault.text)}>{t('audit.faultAt', { fault: t(`audit.faultCodes.${fault.code}`), seq: fault.seq })} {fault.id && <code>{visible(fault.id)}</code>}</li>
          ))}
        </ul>
      )}
      {done.head.seq > 0 && (
        <div>
          <CopyLine>{`${done.head.seq}:${done.head.hash}`}</CopyLine>
          <p className="small dim">{t('audit.anchorHelp')}</p>
        </div>
      )}
    </Stack>
  );
}
