import { expect, it } from 'vitest';
import { mark } from './logline.ts';
import { OutputFeed } from './outputFeed.ts';

function texts(feed: OutputFeed): string[] {
  feed.settle();
  const { store } = feed;
  return Array.from({ length: store.count }, (_, i) => store.line(store.first + i)?.text ?? '');
}
const base64 = (...bytes: number[]) => btoa(String.fromCharCode(...bytes));

it('joins what was read and what is streamed', () => {
  const feed = new OutputFeed();
  feed.bytes(new TextEncoder().encode('one\ntwo\n'), 8);
  feed.output({ offset: 8, stream: 'stdout', text: 'three\nfo' }, 16);
  feed.output({ offset: 16, stream: 'stdout', text: 'ur' }, 18);
  expect(texts(feed)).toEqual(['one', 'two', 'three', 'four']);
  expect(feed.offset).toBe(18);
});

it('puts a character together that came in two parts', () => {
  const feed = new OutputFeed();
  feed.output({ offset: 0, base64: base64(0x61, 0xe5, 0x80) }, 3);
  feed.output({ offset: 3, base64: base64(0xbc, 0x0a, 0xff, 0x0a) }, 7);
  expect(texts(feed)).toEqual(['a值', '\ufffd']);
});

it('takes an event that comes again after a break only once', () => {
  const feed = new OutputFeed();
  feed.output({ offset: 0, text: 'one\n' }, 4);
  feed.output({ offset: 0, text: 'one\n' }, 4);
  feed.missing({ offset: 4, count: 10 });
  feed.missing({ offset: 4, count: 10 });
  feed.output({ offset: 14, text: 'two\n' }, 18);
  expect(texts(feed)).toEqual(['one', '10', 'two']);
  expect(feed.store.marks(1)).toBe(mark.hole);
});

it('goes on from the id of an event, which may be of the other stream', () => {
  const feed = new OutputFeed();
  feed.output({ offset: 40, text: 'x' }, 41);
  feed.output({ offset: 41, text: '' }, 90);
  expect(feed.offset).toBe(90);
});

it('begins with a whole line where it is read from within', () => {
  const feed = new OutputFeed(0, { within: true });
  feed.output({ offset: 100, text: '值 of a line' }, 113);
  feed.output({ offset: 113, text: ' is left\nwhole\nhalf' }, 132);
  expect(texts(feed)).toEqual(['whole', 'half']);
  expect(feed.from).toBe(122);
  expect(feed.store.line(0)?.offset).toBe(122);
});

it('leaves nothing out where the end of what there is was the beginning as well', () => {
  const feed = new OutputFeed(0, { within: true });
  feed.output({ offset: 0, text: 'one\n' }, 4);
  expect(texts(feed)).toEqual(['one']);
  expect(feed.from).toBe(0);
});

it('does not look for the end of a line for ever', () => {
  const feed = new OutputFeed(0, { within: true });
  for (let n = 0; n < 5; n++) feed.output({ offset: 10 + n * 32_768, text: 'x'.repeat(32_768) }, 10 + (n + 1) * 32_768);
  expect(texts(feed).join('').length).toBeGreaterThan(32_768);
});

it('stops at a byte, and what was read before is joined with what follows', () => {
  const later = new OutputFeed(0, { within: true });
  later.output({ offset: 4, text: 'wo 值\nthree\n' }, 17);
  const earlier = new OutputFeed(0, { until: later.from });
  earlier.output({ offset: 0, text: 'one\ntwo 值\nthree\n' }, 17);
  earlier.output({ offset: 17, text: 'more\n' }, 22);
  expect(earlier.full).toBe(true);
  earlier.end();
  later.store.prepend(earlier.store);
  expect(texts(later)).toEqual(['one', 'two 值', 'three']);
});
