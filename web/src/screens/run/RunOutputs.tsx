import { visible } from '../../lib/visible.ts';
import classes from './RunPage.module.css';

/** The values that a run reported; of a list its first items. */
export function RunOutputs({ outputs }: { outputs: Record<string, string> }) {
  return (
    <span className={classes.params} data-outputs="">
      {Object.entries(outputs).map(([name, value]) => {
        const lines = value.split('\n');
        const shown = lines.slice(0, most).join(', ');
        return <span key={name} className={classes.param}>{visible(`${name}=${shown}${lines.length > most ? ` … (${lines.length})` : ''}`)}</span>;
      })}
    </span>
  );
}

const most = 10;
