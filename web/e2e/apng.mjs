// Animated PNG: the pictures of a tour in one file, without recompressing them.

import { crc32 } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function* chunksOf(png) {
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body) >>> 0);
  return Buffer.concat([length, body, sum]);
}

const numbers = (...values) => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => bytes.writeUInt32BE(value, i * 4));
  return bytes;
};

/** Returns an animation that repeats for ever, of pictures of one size and kind, each shown for its milliseconds. */
export function animate(frames) {
  const [first] = frames;
  const head = [...chunksOf(first.png)].find(({ type }) => type === 'IHDR').data;
  let sequence = 0;
  const parts = [signature, chunk('IHDR', head), chunk('acTL', numbers(frames.length, 0))];
  frames.forEach(({ png, ms }, i) => {
    const chunks = [...chunksOf(png)];
    if (!chunks.find(({ type }) => type === 'IHDR').data.equals(head)) throw new Error(`picture ${i} has another size or kind`);
    const delay = Buffer.alloc(6);
    delay.writeUInt16BE(ms, 0);
    delay.writeUInt16BE(1000, 2);
    parts.push(chunk('fcTL', Buffer.concat([numbers(sequence++), head.subarray(0, 8), numbers(0, 0), delay])));
    const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map((part) => part.data));
    parts.push(i === 0 ? chunk('IDAT', data) : chunk('fdAT', Buffer.concat([numbers(sequence++), data])));
  });
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]);
}
