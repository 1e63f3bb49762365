import { useTranslation } from 'react-i18next';
import classes from '../fields.module.css';
import { Fold } from '../Fold.tsx';
import { Inherited } from '../Inherited.tsx';
import { Choice, Text, Whole, Words } from '../inputs.tsx';

export function Limits() {
  const { t } = useTranslation();
  return (
    <Fold id="limits" title={t('editor.limits')} fields={['timeout', 'killGrace', 'output.max', 'memoryMax', 'tasksMax']}>
      <div className={classes.stack}>
        <Inherited field="timeout" />
        <div className={classes.pair}>
          <Text path={['timeout']} />
          <Text path={['killGrace']} />
          <Text path={['output', 'max']} />
          <Text path={['memoryMax']} />
          <Whole path={['tasksMax']} />
        </div>
      </div>
    </Fold>
  );
}

export function Policies() {
  const { t } = useTranslation();
  return (
    <Fold id="policies" title={t('policy.title')} fields={['overlap', 'startDeadline', 'catchUp.policy', 'catchUp.window', 'catchUp.max', 'onLost', 'lostAfter']}>
      <div className={classes.stack}>
        <Choice path={['overlap']} otherwise="skip" options={{ skip: t('overlap.skip'), queue: t('overlap.queue'), replace: t('overlap.replace'), allow: t('overlap.allow') }} />
        <div className={classes.pair}>
          <Text path={['startDeadline']} />
          <Choice path={['catchUp', 'policy']} otherwise="latest" options={{ none: t('editor.catchUps.none'), latest: t('editor.catchUps.latest'), all: t('editor.catchUps.all') }} />
          <Text path={['catchUp', 'window']} />
          <Whole path={['catchUp', 'max']} />
          <Choice path={['onLost']} otherwise="rerun" options={{ rerun: t('editor.onLosts.rerun'), abandon: t('editor.onLosts.abandon'), detach: t('editor.onLosts.detach') }} />
          <Text path={['lostAfter']} />
        </div>
      </div>
    </Fold>
  );
}

export function Retry() {
  const { t } = useTranslation();
  return (
    <Fold id="retry" title={t('policy.retry')} fields={['retry.max', 'retry.backoff', 'retry.maxBackoff', 'retry.exitCodes', 'retry.elsewhere']}>
      <div className={classes.stack}>
        <Inherited field="retry" />
        <div className={classes.pair}>
          <Whole path={['retry', 'max']} />
          <Words path={['retry', 'exitCodes']} numbers />
          <Text path={['retry', 'backoff']} />
          <Text path={['retry', 'maxBackoff']} />
          <Choice path={['retry', 'elsewhere']} otherwise="true" options={{ true: t('editor.retryElsewheres.yes'), false: t('editor.retryElsewheres.no') }} />
        </div>
      </div>
    </Fold>
  );
}

export function History() {
  const { t } = useTranslation();
  return (
    <Fold id="history" title={t('policy.retention')} fields={['retention.age', 'retention.runs']}>
      <div className={classes.stack}>
        <Inherited field="retention" />
        <div className={classes.pair}>
          <Text path={['retention', 'age']} />
          <Whole path={['retention', 'runs']} />
        </div>
      </div>
    </Fold>
  );
}
