import { Alert, Button } from '@mantine/core';
import { Component, Suspense, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface Props {
  children: ReactNode;
  /** Called when the user closes the message that replaces the part. */
  onClose: () => void;
}

/** A part that is loaded on demand. If it cannot be loaded, a message takes its place, and the page stays. */
export class LazyPart extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (this.state.failed) return <Missing onClose={this.props.onClose} />;
    return <Suspense fallback={null}>{this.props.children}</Suspense>;
  }
}

// Browsers remember that a module failed, and lazy components as well: only a reload requests it again.
function Missing({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Alert pos="fixed" bottom="calc(1rem + var(--shell-bottom))" left="1rem" maw="calc(100vw - 2rem)" color="yellow" withCloseButton closeButtonLabel={t('common.close')} onClose={onClose} title={t('offline.partMissing')}>
      <Button size="xs" variant="default" onClick={() => window.location.reload()}>{t('problem.reloadPage')}</Button>
    </Alert>
  );
}
