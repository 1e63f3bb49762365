// A small company whose jobs have run for some minutes, for pictures of a console in use.

import { createServer } from 'node:http';
import { launch } from './browser.mjs';
import { Server, until } from './server.mjs';

const jobs = [
  { name: 'data.etl.orders', title: 'Load the day’s orders', group: 'data.etl', labels: { team: 'data', tier: 'gold' }, cronExpr: '0/20 * * * * * *', command: 'for i in 1 2 3 4; do echo "orders: part $i of 4, 12$i6 rows"; sleep 0.7; done; printf "\\033[32mdone\\033[0m\\n"' },
  { name: 'data.etl.customers', title: 'Load customers', group: 'data.etl', labels: { team: 'data', tier: 'silver' }, cronExpr: '10/30 * * * * * *', command: 'echo customers: 4203 rows; sleep 1' },
  { name: 'data.etl.prices', group: 'data.etl', labels: { team: 'data', tier: 'silver' }, cronExpr: '5/15 * * * * * *', command: 'echo fetching prices; sleep 0.5; n=$(date +%S); [ $((${n#0} % 4)) -ne 0 ] || { echo "error: supplier answered 503" >&2; exit 75; }', retry: { max: 2, backoff: '2s' }, params: { DAY: { default: 'today', description: 'Which day to load', pattern: '[a-z0-9-]+' } } },
  { name: 'data.quality', title: 'Check what was loaded', group: 'data', labels: { team: 'data' }, cronExpr: '0/30 * * * * * *', command: 'echo 17 checks passed; exit 0' },
  { name: 'data.warehouse.compact', title: 'Compact the warehouse', group: 'data', labels: { team: 'data', tier: 'gold' }, cronExpr: '* * * * *', command: 'for i in $(seq 1 45); do echo "segment $i of 45"; sleep 1; done', timeout: '10m' },
  { name: 'shop.feed', title: 'Product feed', group: 'shop', labels: { team: 'shop', tier: 'gold' }, cronExpr: '0/10 * * * * * *', command: 'sleep 0.$(( $(date +%S | sed s/^0//) % 9 + 1 )); echo 8,214 products' },
  { name: 'shop.mailing', title: 'Newsletter', group: 'shop', labels: { team: 'shop' }, cronExpr: '30 9 * * MON-FRI', timezone: 'America/New_York', command: './mailing send', paused: true, pauseNote: 'waits for the new template' },
  { name: 'shop.carts', title: 'Remind of forgotten carts', group: 'shop', labels: { team: 'shop', tier: 'silver' }, cronExpr: '*/5 * * * *', timezone: 'Europe/Berlin', command: 'echo 31 reminders', jitter: '20s' },
  { name: 'reports.nightly', title: '每晚报表', group: 'reports', labels: { team: 'finance' }, cronExpr: '30 2 * * *', timezone: 'Asia/Shanghai', command: 'make report DAY="$DAY"', params: { DAY: { default: 'yesterday', description: '哪一天', pattern: '[a-z0-9-]+' } }, startDeadline: '30m', catchUp: { policy: 'latest', window: '6h' }, retry: { max: 3, backoff: '30s' } },
  { name: 'reports.month-end', title: 'Close the month', group: 'reports', labels: { team: 'finance', tier: 'gold' }, cronExpr: '0 6 1 * *', timezone: 'Europe/Berlin', command: './close-month', priority: 9 },
  { name: 'ops.backup', title: 'Back up the databases', group: 'ops', labels: { team: 'ops', tier: 'gold' }, cronExpr: '15 3 * * *', timezone: 'Europe/Berlin', command: '/usr/local/bin/backup --all' },
  { name: 'ops.certificates', group: 'ops', labels: { team: 'ops' }, cronExpr: 'H H * * *', command: 'certbot renew --quiet' },
  { name: 'ops.disk-report', group: 'ops', labels: { team: 'ops' }, cronExpr: '0/40 * * * * * *', command: 'df -h / | sed "s/^/  /"; echo "warning: /var is 83% full" >&2' },
  { name: 'ops.on-the-gpu', title: 'Train the model', group: 'ops', labels: { team: 'ops' }, command: 'train', placement: { selector: 'gpu=yes' }, overlap: 'queue', startDeadline: '1h' },
  {
    name: 'finance.payouts', title: 'Pay out sellers', group: 'finance', labels: { team: 'finance', tier: 'gold' }, cronExpr: '30 * * * * * *', command: 'echo paying 214 sellers; sleep 1; echo "error: the bank answered 502 Bad Gateway" >&2; exit 3',
    description: 'Check https://status.bank.example first: payouts can be repeated safely.\nAfter 16:00 call treasury@example.com.', timeout: '15m',
  },
  {
    name: 'shop.day', title: 'Close the day', group: 'shop', labels: { team: 'shop', tier: 'gold' }, cronExpr: '* * * * *',
    steps: [
      { name: 'orders', title: 'Collect orders', command: 'sleep 2; echo 1,204 orders' },
      { name: 'returns', title: 'Collect returns', command: 'sleep 1; echo 37 returns' },
      { name: 'stock', title: 'Count the stock', command: 'sleep 3; echo 8,214 products' },
      { name: 'turnover', title: 'Compute the turnover', after: ['orders', 'returns'], command: 'sleep 2; echo 41,933.10' },
      { name: 'reorder', title: 'Order what runs low', after: ['orders', 'stock'], command: 'sleep 20; echo 12 products ordered' },
      { name: 'report', title: 'Send the report', after: ['turnover', 'reorder'], command: 'echo sent' },
    ],
  },
  { name: 'shop.eu.vat', title: 'Report VAT', group: 'shop/eu', labels: { team: 'shop' }, cronExpr: '0 7 * * MON-FRI', command: './vat send' },
  { name: 'ops.poll-inbox', group: 'ops', labels: { team: 'ops' }, cronExpr: '0/20 * * * * * *', command: 'sleep 27; echo 3 letters', overlap: 'skip' },
];

/**
 * Shows a company to `work`: a server on which its jobs have run for some minutes, and a browser. They succeed, fail,
 * wait and are skipped; at three o’clock there is a peak. None of them is a problem of the cluster, which would have a
 * banner.
 */
export async function company(minutes, work) {
  const receiver = createServer((request, response) => request.resume().on('end', () => response.writeHead(204).end()));
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const server = await Server.create({ CARILLON_NOTIFY_ALLOW: '127.0.0.0/8' });
  let browser;
  try {
    await server.start();
    await fill(server, `http://127.0.0.1:${receiver.address().port}/`);
    const began = Date.now();
    await until('there is some history', () => Date.now() - began > minutes * 60_000, minutes * 60 + 10);
    browser = await launch();
    await work(server, browser);
  } finally {
    await browser?.close();
    await server.remove();
    receiver.close();
  }
}

async function fill(server, hook) {
  await server.api('PUT', '/channels/on-call', { kind: 'webhook', url: hook });
  await server.api('PUT', '/channels/team-shop', { kind: 'webhook', url: hook });
  await server.api('PUT', '/defaults?group=*', { lostAfter: '2m', notify: { on: ['failed', 'missed', 'lost'], to: ['on-call'] } });
  await server.api('PUT', '/defaults?group=shop', { timeout: '1h', retry: { max: 2, backoff: '10s' }, notify: { on: ['failed', 'late'], to: ['team-shop'] }, env: { REGION: 'eu' } });
  for (const job of jobs) await server.api('POST', '/jobs', { timezone: 'Europe/Berlin', ...job });
  for (let i = 1; i <= 42; i++) {
    await server.api('POST', '/jobs', { name: `shop.stock.branch-${String(i).padStart(2, '0')}`, group: 'shop.stock', labels: { team: 'shop', branch: String(i) }, cronExpr: i % 6 === 0 ? '30 * * * *' : '0 3 * * *', timezone: 'Europe/Berlin', command: `./stock sync --branch ${i}` });
  }
  await server.api('POST', '/jobs/ops.on-the-gpu/run', { note: 'with the new data' });
  const [worker] = (await server.api('GET', '/workers')).items;
  await server.api('PATCH', `/workers/${worker.id}`, { labels: { zone: 'cellar', disk: 'fast', arch: 'x86-64' }, slots: 32 });
  await server.api('PATCH', '/jobs/reports.nightly', { timeout: '45m' });
  await server.api('PATCH', '/jobs/reports.nightly', { command: 'make report DAY="$DAY" FORMAT=pdf', description: 'The figures of the day before, by branch.\nAsk finance before you change it.' });
  await server.api('POST', '/users', { name: 'ann', title: 'Ann Lee', role: 'admin', password: 'blue horse under a quiet bridge' });
  await server.api('POST', '/users', { name: 'bob', title: 'Bob Okafor', role: 'viewer', groups: { shop: 'editor', reports: 'operator' }, password: 'nine green lamps along the canal' });
  await server.api('POST', '/users', { name: 'deploy', groups: { shop: 'editor' } });
  await server.api('POST', '/tokens', { name: 'nightly deploy', user: 'deploy', role: 'editor', groups: ['shop'] });
  await server.api('POST', '/tokens', { name: 'dashboard in the hall', user: 'bob', role: 'viewer', expiresIn: '365d' });
}
