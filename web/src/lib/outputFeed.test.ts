import { expect, it } from 'vitest';
import { mark } from './logline.ts';
import { OutputFeed } from './outputFeed.ts';

function texts(feed: OutputFeed): string[] {
  feed.settle();
  const { store } = feed;
  return Array.from({ length: store.count }, (_, i) => store.line(store.first + i)?.text ?? '');
}
const base64 = (...bytes: number[]) => btoa(String.fromCharCode(...bytes));

it('joins read and streamed output', () => {
  const feed = new OutputFeed();
  feed.bytes(new TextEncoder().encode('one\ntwo\n'), 8);
  feed.output({ offset: 8, stream: 'stdout', text: 'three\nfo' }, 16);
  feed.output({ offset: 16, stream: 'stdout', text: 'ur' }, 18);
  expect(texts(feed)).toEqual(['one', 'two', 'three', 'four']);
  expect(feed.offset).toBe(18);
});

it('joins a character that is split over two chunks', () => {
  const feed = new OutputFeed();
  feed.output({ offset: 0, base64: base64(0x61, 0xe5, 0x80) }, 3);
  feed.output({ offset: 3, base64: base64(0xbc, 0x0a, 0xff, 0x0a) }, 7);
  expect(texts(feed)).toEqual(['a值', '\ufffd']);
});

it('ignores an event that is repeated after a reconnect', () => {
  const feed = new OutputFeed();
  feed.output({ offset: 0, text: 'one\n' }, 4);
  feed.output({ offset: 0, text: 'one\n' }, 4);
  feed.missing({ offset: 4, count: 10 });
  feed.missing({ offset: 4, count: 10 });
  feed.output({ offset: 14, text: 'two\n' }, 18);
  expect(texts(feed)).toEqual(['one', '10', 'two']);
  expect(feed.store.marks(1)).toBe(mark.hole);
});

it('continues from the id of an event, which may be of the other stream', () => {
  const feed = new OutputFeed();
  feed.output({ offset: 40, text: 'x' }, 41);
  feed.output({ offset: 41, text: '' }, 90);
  expect(feed.offset).toBe(90);
});

it('starts with a complete line if reading starts within the output', () => {
  const feed = new OutputFeed(0, { within: true });
  feed.output({ offset: 100, text: '值 of a line' }, 113);
  feed.output({ offset: 113, text: ' is left\nwhole\nhalf' }, 132);
  expect(texts(feed)).toEqual(['whole', 'half']);
  expect(feed.from).toBe(122);
  expect(feed.store.line(0)?.offset).toBe(122);
});

it('skips nothing if the tail is the complete output', () => {
  const feed = new OutputFeed(0, { within: true });
  feed.output({ offset: 0, text: 'one\n' }, 4);
  expect(texts(feed)).toEqual(['one']);
  expect(feed.from).toBe(0);
});

it('limits the search for the end of a line', () => {
  const feed = new OutputFeed(0, { within: true });
  for (let n = 0; n < 5; n++) feed.output({ offset: 10 + n * 32_768, text: 'x'.repeat(32_768) }, 10 + (n + 1) * 32_768);
  expect(texts(feed).join('').length).toBeGreaterThan(32_768);
});

it('stops at an offset, and is joined with the following output', () => {
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
