import { Alert, Button, TextInput } from '@mantine/core';
import { useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { crontabText } from '../../parts/crontabText.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import classes from './Editor.module.css';
import fieldClasses from './fields.module.css';
import { labels } from './labels.ts';
import type { Understood, useLinePaste } from './useLinePaste.ts';

/** Fills in a new job from a crontab line. */
export function CrontabBox({ paste, onImport }: { paste: ReturnType<typeof useLinePaste>; onImport: () => void }) {
  const { t } = useTranslation();
  const [line, setLine] = useState('');
  const read = () => void paste.read(line).then((done) => done && setLine(''));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    if (line.trim() !== '') read();
  };
  return (
    <div className={classes.crontab}>
      <TextInput
        className={`${fieldClasses.mono} ${classes.grow}`} label={t('crontab.line')} placeholder="*/5 * * * * /usr/bin/backup --all" value={line} spellCheck={false} autoCapitalize="none" maxLength={8192}
        onChange={(e) => setLine(e.currentTarget.value)} onKeyDown={onKeyDown} onPaste={paste.onPaste}
      />
      <Button variant="default" loading={paste.busy} disabled={line.trim() === ''} onClick={read}>{t('crontab.read')}</Button>
      <Button variant="subtle" onClick={onImport}>{t('crontab.whole')}</Button>
    </div>
  );
}

/** The result of a parsed line, so that the user need not guess. */
export function UnderstoodNote({ understood, error, onUndo, onClose }: { understood: Understood | undefined; error: Error | undefined; onUndo: (() => void) | undefined; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  if (error) return <ProblemNotice error={error} />;
  if (!understood) return null;
  const fields = understood.fields.map((field) => t(`editor.${labels[field]?.label ?? 'name'}`));
  const list = new Intl.ListFormat(i18n.language, { type: 'conjunction' }).format(fields);
  return (
    <Alert variant="light" color={fields.length > 0 ? 'cyan' : 'yellow'} icon={<Icon name={fields.length > 0 ? 'check' : 'warn'} />} withCloseButton closeButtonLabel={t('common.close')} onClose={onClose} role="status" data-understood="">
      <div className={classes.line}>
        <span>{fields.length > 0 ? t('crontab.understood', { fields: list }) : t('crontab.nothing')}</span>
        {fields.length > 0 && onUndo && <Button size="xs" variant="default" onClick={onUndo}>{t('editor.undo')}</Button>}
      </div>
      {understood.notices.length > 0 && <ul className={classes.plain}>{understood.notices.map((notice, i) => <li key={i} className="break">{visible(crontabText(t, i18n.language, notice))}</li>)}</ul>}
    </Alert>
  );
}
