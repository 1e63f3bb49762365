import { Switch, TextInput } from '@mantine/core';
import { fieldId, useField, useForm } from './context.ts';
import classes from './fields.module.css';
import { useTexts } from './inputs.tsx';
import { runOnForm, runOnValue, type RunOnForm } from './runOn.ts';

const code = { spellCheck: false, autoCapitalize: 'none', autoComplete: 'off' } as const;

/** On which workers each fire runs. */
export function RunOnFields() {
  const { value, error, set } = useField(['runOn']);
  const form = runOnForm(value);
  const change = (part: Partial<RunOnForm>) => set(runOnValue({ ...form, ...part }));
  return (
    <>
      <div className={classes.pair}>
        <Field name="workers" value={form.workers} otherwise={error} onChange={(workers) => change({ workers })} />
        <Field name="concurrency" value={form.concurrency} onChange={(concurrency) => change({ concurrency })} />
        <Field name="maxFailures" value={form.maxFailures} onChange={(maxFailures) => change({ maxFailures })} />
      </div>
      <Stop checked={form.stop} onChange={(stop) => change({ stop })} />
    </>
  );
}

interface FieldProps {
  name: 'workers' | 'concurrency' | 'maxFailures';
  value: string;
  /** A fault that is shown where there is no other one. */
  otherwise?: string | undefined;
  onChange: (text: string) => void;
}

function Field({ name, value, otherwise, onChange }: FieldProps) {
  const { errorAt } = useForm();
  const { label, description } = useTexts(['runOn', name]);
  return <TextInput id={fieldId(`runOn.${name}`)} label={label} description={description} {...code} className={classes.mono} value={value} error={errorAt(`runOn.${name}`) ?? otherwise} onChange={(e) => onChange(e.currentTarget.value)} />;
}

function Stop({ checked, onChange }: { checked: boolean; onChange: (stop: boolean) => void }) {
  const { errorAt } = useForm();
  const { label, description } = useTexts(['runOn', 'stop']);
  return <Switch id={fieldId('runOn.stop')} label={label} description={description} checked={checked} error={errorAt('runOn.stop')} onChange={(e) => onChange(e.currentTarget.checked)} />;
}
