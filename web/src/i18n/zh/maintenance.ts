import type { maintenance as english } from '../en/maintenance.ts';
import type { Texts } from '../texts.ts';

export const maintenance: Texts<typeof english> = {
  maintenance: {
    title: '维护窗口', intro: '维护窗口开启期间，其范围内的任务不会自行开始运行。已开始的运行会继续，也可以手动运行。',
    name: '窗口', state: '状态', from: '开始', to: '结束', affects: '影响范围', policy: '计划的触发', note: '备注', noteHelp: '原因，会显示在受影响的每次触发上。',
    states: { open: '进行中', planned: '已计划', over: '已结束' },
    scopes: { groups: '分组中的任务', selector: '按标签选择的任务', workers: '工作节点', everything: '全部任务' },
    policies: { hold: '等待：窗口结束后再运行', skip: '跳过：不运行' }, short: { hold: '等待', skip: '跳过' },
    groups: '分组', noGroup: '请至少填写一个分组。', selector: '标签', workers: '工作节点', workersHelp: '窗口开启期间不领取运行，现有运行会继续。',
    when: '时间', once: '一次', again: '周期性', fromHelp: '留空表示现在。您的时区：{{zone}}。', cronExpr: '开始时间（cron 表达式）', timezone: '时区', duration: '持续时间',
    allJobs: '全部任务', ofGroups: '分组 {{groups}}', noneGroup: '（无）', ofWorkers: '工作节点 {{workers}}',
    new: '新建窗口', newTitle: '新建维护窗口', editTitle: '编辑 {{name}}', create: '创建窗口', nameTaken: '已有同名的窗口。', stale: '窗口已被他人修改，请关闭后重新打开。',
    made: '已创建窗口 {{name}}。', saved: '已保存窗口 {{name}}。',
    edit: '编辑…', editOf: '编辑 {{name}}', end: '立即结束…', endOf: '立即结束 {{name}}', delete: '删除…', deleteOf: '删除 {{name}}',
    endTitle: '立即结束 {{name}}？', endText: '等待其结束的触发会立即开始，由各任务的补跑策略选择。', endConfirm: '结束窗口', ended: '已结束窗口 {{name}}。',
    deleteTitle: '删除 {{name}}？', deleteText: '等待其结束的触发会立即开始；已跳过的不再运行。', deleteConfirm: '删除窗口', deleted: '已删除窗口 {{name}}。',
    emptyTitle: '还没有维护窗口', emptyText: '维护窗口让任务的触发在一段时间内等待或跳过，并会自行结束：例如数据库升级期间，或每周日凌晨两点。',
  },
};
