// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { createTranslator, loadRest, setLanguage } from '../i18n/index.ts';
import { deliveryTrouble } from './deliveryTrouble.ts';

it('says the status of the receiver once, and what it wrote', async () => {
  const translator = await createTranslator();
  await loadRest(translator);
  expect(deliveryTrouble(translator.t, { code: 'trouble', answer: 500, error: 'the receiver answered 500 Internal Server Error', kind: 'webhook' })).toEqual({ said: 'The last attempt failed: HTTP 500.', detail: '' });
  expect(deliveryTrouble(translator.t, { code: 'refused', answer: 403, error: 'the receiver answered 403 Forbidden: no such hook: x', kind: 'slack' })).toEqual({ said: 'Rejected: HTTP 403.', detail: 'no such hook: x' });
  expect(deliveryTrouble(translator.t, { code: 'trouble', error: 'dial tcp: connection refused', kind: 'webhook' })).toEqual({ said: 'The last attempt failed.', detail: 'dial tcp: connection refused' });
  expect(deliveryTrouble(translator.t, { code: 'trouble', answer: 451, error: '451 try later', kind: 'mail' })).toEqual({ said: 'The last attempt failed: SMTP 451.', detail: '451 try later' });
  expect(deliveryTrouble(translator.t, { code: 'channel_disabled', error: 'x', kind: 'mail' })).toEqual({ said: 'The channel is disabled.', detail: '' });
  expect(deliveryTrouble(translator.t, {})).toEqual({ said: '', detail: '' });
  await setLanguage(translator, 'zh');
  expect(deliveryTrouble(translator.t, { code: 'trouble', answer: 500, error: 'the receiver answered 500 Internal Server Error', kind: 'webhook' })).toEqual({ said: '最近一次尝试失败：HTTP 500。', detail: '' });
});
