import classes from './Meter.module.css';

/** A fill level. The element of HTML is drawn differently by each browser, at half its height by some. */
export function Meter({ value, max, label }: { value: number; max: number; label: string }) {
  const share = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
  return (
    <div className={classes.meter} role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={max} aria-valuenow={Math.min(value, max)}>
      <div className={classes.level} style={{ width: `${share * 100}%` }} />
    </div>
  );
}
