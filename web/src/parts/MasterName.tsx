import type { Master } from '../api/types.ts';
import { PlainText } from './PlainText.tsx';

/** A master by its machine, and by where it listens there, since there may be others on it. */
export function MasterName({ master: { host, address } }: { master: Pick<Master, 'host' | 'address'> }) {
  return (
    <span className="break">
      <PlainText>{host}</PlainText>
      {address && <> <span className="small dim"><PlainText>{address}</PlainText></span></>}
    </span>
  );
}
