import { expect, it } from 'vitest';
import type { Channel } from '../api/types.ts';
import { addressesOf, channelForm, definitionOfChannel } from './channelForm.ts';

const hook = { name: 'ops', kind: 'webhook', origin: 'https://hooks.example.com', jobs: 0, version: 7, createdAt: '', updatedAt: '', disabled: true } as Channel;

it('an existing webhook keeps its URL and its secret unless others are given', () => {
  const form = channelForm(hook, 'en');
  expect(definitionOfChannel(form)).toEqual({ kind: 'webhook', disabled: true });
  expect(definitionOfChannel({ ...form, url: ' https://other.example.com/x ', disabled: false })).toEqual({ kind: 'webhook', url: 'https://other.example.com/x' });
  expect(definitionOfChannel({ ...form, secret: 'whsec_x', newSecret: true, disabled: false })).toEqual({ kind: 'webhook', newSecret: true });
});

it('a form that was a webhook sends no URL as mail', () => {
  expect(definitionOfChannel({ ...channelForm(undefined, 'en'), kind: 'mail', url: 'https://x.example', secret: 'whsec_x', to: 'a@example.com' })).toEqual({ kind: 'mail', to: ['a@example.com'], language: 'en' });
});

it('a chat service gets the language of the console, and keeps its URL', () => {
  const form = { ...channelForm(undefined, 'zh'), kind: 'slack' as const, url: 'https://hooks.slack.com/services/x', secret: 'typed for a webhook' };
  expect(definitionOfChannel(form)).toEqual({ kind: 'slack', url: 'https://hooks.slack.com/services/x', language: 'zh' });
  expect(definitionOfChannel(channelForm({ ...hook, kind: 'slack', disabled: false }, 'zh'))).toEqual({ kind: 'slack', language: 'en' });
});

it('addresses may be separated as people do', () => expect(addressesOf(' a@example.com, b@example.com;\nc@example.com，d@example.com ')).toEqual(['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com']));
