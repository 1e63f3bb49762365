import type { Master } from '../api/types.ts';
import { PlainText } from './PlainText.tsx';

/** A master's host and address, since one host may run several. */
export function MasterName({ master: { host, address } }: { master: Pick<Master, 'host' | 'address'> }) {
  return (
    <span className="break">
      <PlainText>{host}</PlainText>
      {address && <> <span className="small dim"><PlainText>{address}</PlainText></span></>}
    </span>
  );
}
