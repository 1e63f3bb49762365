import { TextInput } from '@mantine/core';
import { useField } from './context.ts';
import classes from './fields.module.css';
import { Text, useTexts } from './inputs.tsx';
import { fleetValue } from './runOn.ts';

/** How many replicas of the command are kept running, and how. */
export function DaemonFields() {
  const path = ['daemon', 'count'];
  const { id, value, error, set } = useField(path);
  const { label, description } = useTexts(path);
  return (
    <>
      <div className={classes.pair}>
        <TextInput
          id={id} label={label} description={description} error={error} className={classes.mono} spellCheck={false} autoCapitalize="none" autoComplete="off"
          value={value === undefined ? '' : String(value)} onChange={(e) => set(fleetValue(e.currentTarget.value))}
        />
        <Text path={['daemon', 'healthyAfter']} />
        <Text path={['daemon', 'rebalance', 'after']} />
      </div>
      <div className={classes.pair}>
        <Text path={['daemon', 'backoff']} />
        <Text path={['daemon', 'maxBackoff']} />
      </div>
    </>
  );
}
