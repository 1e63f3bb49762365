import type { pools as english } from '../en/pools.ts';
import type { Texts } from '../texts.ts';

export const pools: Texts<typeof english> = {
  pools: {
    title: '资源池', intro: '资源池限制使用它的所有任务同时存在的运行数。没有空闲槽位的触发会等到启动期限为止。',
    table: '资源池', name: '资源池', usage: '已用', usedOf: '已用 {{used}}，共 {{slots}}', usageOf: '{{name}} 已用的槽位', waiting: '等待中', jobs: '任务', group: '分组', slots: '槽位数',
    details: '详情', detailsOf: '{{name}} 的详情', edit: '编辑', editOf: '编辑 {{name}}', delete: '删除…', deleteOf: '删除 {{name}}',
    noHolders: '没有运行占用槽位。', holders: '占用槽位的运行：', holdersOf: '占用 {{name}} 槽位的运行', slotCount_one: '1 个槽位', slotCount_other: '{{count}} 个槽位',
    noQueue: '没有触发在等待。', queue: '等待中，按获得槽位的顺序：', queueOf: '等待 {{name}} 的触发', priority: '优先级 {{priority}}', moreWaiting_one: '另有 1 个', moreWaiting_other: '另有 {{count}} 个', usedBy: '使用 {{name}} 的任务',
    emptyTitle: '还没有资源池', emptyText: '创建资源池可限制同时使用数据库或其他服务的运行数，然后在任务中填写其名称。',
    new: '新建资源池', newTitle: '新建资源池', editTitle: '编辑 {{name}}', create: '创建资源池', save: '保存', saved: '已保存资源池 {{name}}。', nameTaken: '已有同名的资源池。', stale: '资源池已被修改。请关闭此对话框后重试。',
    slotsHelp: '1 到 1000。减少槽位不会结束运行：已用槽位少于新值之前，不会启动新的运行。', groupHelp: '此分组的编辑者可修改资源池。所有分组的任务都可使用它。',
    deleteTitle: '删除 {{name}}？', deleteUnused: '没有任务使用它。', deleteUsed_one: '有 1 个任务使用它。使用中的资源池不能删除。', deleteUsed_other: '有 {{count}} 个任务使用它。使用中的资源池不能删除。', deleteConfirm: '删除资源池', deleted: '已删除资源池 {{name}}。',
  },
};
