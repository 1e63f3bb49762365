import { useTranslation } from 'react-i18next';
import { useAcknowledge } from '../api/failures.ts';
import type { Fire } from '../api/types.ts';
import { visible } from '../lib/visible.ts';
import { Filled, slot } from './Filled.tsx';
import { Icon } from './icons.tsx';
import { showFailure } from './showFailure.ts';
import classes from './AckMark.module.css';
import { RelativeTime } from './TimeText.tsx';

interface Props {
  acknowledged: NonNullable<Fire['acknowledged']>;
  fire: string;
  /** The viewer may withdraw it. */
  mayUndo: boolean;
}

/** Who acknowledged a failure, when and why. */
export function AckMark({ acknowledged: { by, at, note }, fire, mayUndo }: Props) {
  const { t, i18n } = useTranslation();
  const undo = useAcknowledge();
  return (
    <div className={classes.mark} data-acknowledged="">
      <Icon name="check" size={13} />
      <span className="break">
        <Filled text={t('failures.by', { who: visible(by), at: slot })}><RelativeTime at={at} /></Filled>
        {note && <>: {visible(note)}</>}
      </span>
      {mayUndo && <button type="button" className={classes.undo} disabled={undo.isPending} onClick={() => undo.mutate({ fires: [fire], note: '', undo: true }, { onError: (error) => showFailure(t, i18n.language, error) })}>{t('failures.undo')}</button>}
    </div>
  );
}
