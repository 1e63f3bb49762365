import type { defaults as english } from '../en/defaults.ts';
import type { Texts } from '../texts.ts';

export const defaults: Texts<typeof english> = {
  defaults: {
    title: '默认设置', intro: '任务自身未设置的内容从默认设置继承：先是所属分组，再是外层分组（shop/eu 属于 shop），最后是所有任务的默认设置。以最近的值为准。',
    table: '默认设置', group: '分组', sets: '设置项', updated: '修改时间', allJobs: '所有任务',
    emptyTitle: '还没有默认设置', emptyText: '通知、重试、时区等设置可为一个分组或所有任务统一设置，不必逐个任务填写。',
    new: '新建…', newTitle: '新建默认设置', newGroup: '任务', newAll: '所有任务', newOne: '某个分组的任务', groupName: '分组', groupHelp: '也适用于其中的下级分组。', groupInvalid: '不是有效的分组名称：分组用“/”嵌套，例如 shop/eu。', next: '继续', exists: '此分组已有默认设置，将打开它们。',
    ofTitle: '{{group}} 的默认设置', allTitle: '所有任务的默认设置', editTitle: '编辑 {{group}} 的默认设置', editAllTitle: '编辑所有任务的默认设置', edit: '编辑', delete: '删除…', all: '全部默认设置', jobs: '此分组的任务', values: '设置项', nothing: '此分组没有默认设置。', nothingAll: '所有任务没有默认设置。',
    create: '设置默认值', inherits: '其任务的其余设置继承自：', notEditor: '只有此分组的编辑者可以修改其默认设置。', notAdmin: '只有对所有分组拥有编辑者角色的用户可以修改这些默认设置。',
    more: '常规',review: '检查变更',
    formHelp: '任务自身设置的值保持不变。留空的字段由任务或外层分组的默认设置决定。',
  },
  defaultsReview: {
    title: '修改{{of}}的默认设置？', deleteTitle: '删除{{of}}的默认设置？', restoreTitle: '恢复{{of}}的这些默认设置？', summary: '影响',
    changed_one: '1 个任务有变化', changed_other: '{{count}} 个任务有变化', changedIn: '{{jobs}}，涉及 {{fields}}', fields_one: '1 个字段', fields_other: '{{count}} 个字段', gone_one: '取消 1 次触发', gone_other: '取消 {{count}} 次触发', come_one: '新增 1 次触发', come_other: '新增 {{count}} 次触发', noFires: '触发不变', restarts_one: '替换 1 个常驻任务的副本', restarts_other: '替换 {{count}} 个常驻任务的副本',
    unchanged: '没有任务发生变化。', of_one: '它们适用于 1 个任务，任务自身设置的值除外。', of_other: '它们适用于 {{count}} 个任务，任务自身设置的值除外。', within: '比较的是今后 7 天的触发。',
    refused_one: '有 1 个任务会变得无效，因此不能保存。请先修改该任务。', refused_other: '有 {{count}} 个任务会变得无效，因此不能保存。请先修改这些任务。',
    refusedJobs: '会变得无效的任务', jobs: '有变化的任务', more_one: '另有 1 个未列出。', more_other: '另有 {{count}} 个未列出。', origin: '只有来源发生变化', firesGone: '取消的触发', firesCome: '新增的触发', diffOf: '{{name}} 的变更',
    save: '保存', remove: '删除默认设置', restore: '恢复', saved: '已保存{{of}}的默认设置。', deleted: '已删除{{of}}的默认设置。', pending: '其余任务将在一分钟内修改。',
    staleTitle: '在此期间他人已修改这些默认设置', staleText: '没有保存任何内容。请对照现在的设置，再次检查您的值；保存会替换现在的设置。', again: '再次检查', theirs: '现在的设置',
  },
  manyJobs: {
    title_one: '编辑 1 个任务的设置', title_other: '编辑 {{count}} 个任务的设置', notifyTitle_one: '为 1 个任务设置通知', notifyTitle_other: '为 {{count}} 个任务设置通知', reviewTitle_one: '更改 1 个任务？', reviewTitle_other: '更改 {{count}} 个任务？', doneTitle: '结果',
    help: '打开要更改的项目，其余设置在各任务中保持不变。', leftOut_one: '另有 1 个所选任务在您不是编辑者的分组中，将保持不变。', leftOut_other: '另有 {{count}} 个所选任务在您不是编辑者的分组中，将保持不变。',
    sections: { notify: '告警', group: '分组', labels: '标签', retry: '重试', timeout: '超时', placement: '节点选择' }, mixed: '各任务不同', notSet: '均未设置', how: '{{section}}：更改方式', set: '设置', unset: '移除', unsetHelp: '任务自身不再设置此项；如分组有默认值，则继承该默认值。',
    group: '新分组', groupHelp: '留空则不属于任何分组。任务将继承新分组的默认值。', addLabels: '添加标签', addLabelsHelp: '格式如 team=data。', removeLabels: '移除标签', selector: '带有这些标签的节点', workers: '仅限这些节点',
    asDefault: '这些任务同属一个分组。若今后的任务也要通知，只需设置一次：', defaultsOf: '{{group}} 的默认值', review: '预览…', back: '返回', confirm_zero: '没有任务会改变', confirm_one: '更改 1 个任务', confirm_other: '更改 {{count}} 个任务',
    wouldRefuse_one: '1 个任务会被拒绝，保持不变', wouldRefuse_other: '{{count}} 个任务会被拒绝，保持不变', unchanged_one: '1 个任务已是这些值。', unchanged_other: '{{count}} 个任务已是这些值。',
    changed_one: '已更改 1 个任务。', changed_other: '已更改 {{count}} 个任务。', refused_one: '1 个任务被拒绝：', refused_other: '{{count}} 个任务被拒绝：', refusedJobs: '被拒绝的任务', audit: '在审计中查看',
  },
  defaultsVersions: {
    title: '版本', none: '没有保留的版本。', older: '更早的版本', restore: '恢复…', restoreOf: '恢复 {{time}} 的版本', values: '设置项', current: '当前', verb: { create: '已创建', replace: '已修改', delete: '已删除' },
  },
  inherits: {
    value: '{{value}}（继承自{{from}}）', choice: '继承：{{value}}（{{from}}）', mark: '继承', note: '继承自{{from}}。', whole: '在此设置的内容会整体取代它。', notify: '发送至 {{to}}：{{events}}。', variables: '继承的变量',
    optOut: { retry: '不重试，也不继承分组的设置', notify: '不通知，也不继承分组的设置', placement: '不限定节点，也不继承分组的设置', timeout: '无超时，也不继承分组的设置' },
    optedOut: { retry: '不重试：此任务不继承重试设置。', notify: '不通知：此任务不继承通知设置。', placement: '不限定节点：此任务不继承节点选择。', timeout: '无超时：此任务不继承超时设置。' },
    inherit: '重新继承',
  },
};
