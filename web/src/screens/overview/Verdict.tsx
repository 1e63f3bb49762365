import { useTranslation } from 'react-i18next';
import { Icon } from '../../parts/icons.tsx';
import classes from './Verdict.module.css';

interface Props {
  troubles: number;
  /** There may be more. */
  more: boolean;
  /** Failures that were acknowledged. */
  acknowledged: number;
  degraded: number;
  /** The problems that prevent runs or their recording. */
  grave: boolean;
  /** Some data is missing. */
  unsure: boolean;
}

/** The state of the cluster in one sentence. */
export function Verdict({ troubles, more, acknowledged, degraded, grave, unsure }: Props) {
  const { t } = useTranslation();
  if (troubles === 0 && degraded === 0 && unsure) return null;
  const well = troubles === 0 && degraded === 0;
  return (
    <p className={classes.verdict} data-verdict={well ? 'well' : 'trouble'} data-mild={(!well && troubles === 0 && !grave) || undefined}>
      <Icon name={well ? 'check' : 'warn'} size={16} />
      <span>
        {well && <><strong>{t('overview.well')}</strong> {t(acknowledged > 0 ? 'overview.wellAcknowledged' : 'overview.wellText')}</>}
        {degraded > 0 && <strong>{t('overview.degraded', { count: degraded })}</strong>}
        {degraded > 0 && troubles > 0 && ' · '}
        {troubles > 0 && (more ? t('overview.troubleMore', { count: troubles }) : t('overview.trouble', { count: troubles }))}
      </span>
    </p>
  );
}
