import type { locks as english } from '../en/locks.ts';
import type { Texts } from '../texts.ts';

export const locks: Texts<typeof english> = {
  locks: {
    title: '锁', intro: '命名锁保证同一时间只有一个脚本或程序在工作，不论在哪台机器上。未释放就消失的持有者可在宽限期内返回。',
    table: '锁', name: '锁', state: '状态', owner: '持有者', since: '开始时间', waiting: '等待中', takeovers: '接管次数',
    states: { held: '已持有', grace: '宽限期', free: '空闲' },
    details: '详情', detailsOf: '{{name}} 的详情', release: '释放…', releaseOf: '释放 {{name}}',
    terms: '隔离令牌 {{fence}}。租约 {{ttl}}，宽限期 {{grace}}。', graceText: '持有者未释放锁就消失了。如果 {{grace}} 内没有返回，排在最前的客户端将接管此锁。',
    note: '备注：', tookOver: '接管自已消失的 {{id}}（令牌 {{fence}}），', noQueue: '没有客户端在等待。', queueOf: '等待 {{name}} 的客户端', moreWaiting_one: '另有 1 个', moreWaiting_other: '另有 {{count}} 个',
    emptyTitle: '还没有锁', emptyText: '脚本和 Go 程序用锁来保证同一时间只有一个在工作：',
    releaseTitle: '释放 {{name}}？', releaseText: '{{id}} 的工作可能仍在进行。下一个等待的客户端会立即获得此锁；{{id}} 得知失去锁后会结束其工作。', releaseConfirm: '释放此锁', released: '已释放锁 {{name}}。',
  },
};
