import { expect, it } from 'vitest';
import { OutputFeed } from './outputFeed.ts';

const texts = (feed: OutputFeed) => feed.lines().map((line) => line.text);
const base64 = (...bytes: number[]) => btoa(String.fromCharCode(...bytes));

it('joins what was read and what is streamed', () => {
  const feed = new OutputFeed();
  feed.bytes(new TextEncoder().encode('one\ntw'), 6);
  feed.output({ offset: 6, text: 'o\nthree' }, 13);
  expect(texts(feed)).toEqual(['one', 'two', 'three']);
  expect(feed.offset).toBe(13);
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
  expect(texts(feed)).toEqual(['one', '[carillon: 10 bytes of output are missing here]', 'two']);
});

it('says on a line of its own what is missing', () => {
  const feed = new OutputFeed();
  feed.output({ offset: 0, text: 'half a line' }, 11);
  feed.missing({ offset: 11, count: 1 });
  expect(texts(feed)).toEqual(['half a line', '[carillon: 1 bytes of output are missing here]']);
});

it('goes on from the id of an event, which may be of the other stream', () => {
  const feed = new OutputFeed();
  feed.output({ offset: 40, text: 'x' }, 41);
  feed.output({ offset: 41, text: '' }, 90);
  expect(feed.offset).toBe(90);
});
