import { Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useField } from '../context.ts';
import classes from '../fields.module.css';
import { Fold } from '../Fold.tsx';
import { Text, Time, useTexts, Whole } from '../inputs.tsx';

export function Pause() {
  const { t } = useTranslation();
  return (
    <Fold id="pause" title={t('editor.pause')} fields={['paused', 'pauseNote', 'pauseUntil', 'autoPause.failures']}>
      <div className={classes.stack}>
        <Paused />
        <div className={classes.pair}>
          <Text path={['pauseNote']} mono={false} />
          <Time path={['pauseUntil']} />
        </div>
        <div className={classes.pair}>
          <Whole path={['autoPause', 'failures']} />
        </div>
      </div>
    </Fold>
  );
}

function Paused() {
  const { id, value, error, set } = useField(['paused']);
  const { label, description } = useTexts(['paused']);
  return <Switch id={id} label={label} description={description} checked={value === true} error={error} onChange={(e) => set(e.currentTarget.checked || undefined)} />;
}
