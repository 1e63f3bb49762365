import type { Texts } from '../texts.ts';
import type { access as english } from '../en/access.ts';

export const access: Texts<typeof english> = {
  access: {
    title: '访问', users: '用户', tokens: '令牌', sessions: '会话', audit: '审计',
    deniedTitle: '此页面仅供管理员使用', denied: '用户、所有人的令牌和审计由全局管理员维护。您自己的密码、令牌和会话在“我的账户”中。', toAccount: '转到我的账户',
    role: '全局角色', noRole: '无', groups: '分组中的角色', groupsHelp: '对某个分组的任务另有的权限。以较高的角色为准。', group: '分组', groupRole: '在分组中的角色', addGroup: '添加分组', removeGroup: '移除第 {{n}} 个分组',
    groupOf: '第 {{n}} 个分组', groupRoleOf: '在第 {{n}} 个分组中的角色',
    roleHelp: {
      viewer: '查看任务、运行、台账和工作节点。', operator: '还可运行、终止、暂停；排空工作节点。', editor: '还可创建、修改和删除任务。', admin: '还可管理用户、令牌、通知渠道、节点设置和审计。',
    },
    never: '从不', by: '由 {{who}}', everywhere: '全局', admins: '只有管理员能看到此列表。',
  },
  users: {
    table: '用户', new: '新建用户', name: '用户', nameHelp: 'a–z、0–9、“.”、“_”、“-”，之后不能更改。', titleField: '姓名', titleHelp: '自由文本，任何语言均可。',
    roles: '角色', login: '登录方式', password: '密码', passwordHelp: '至少 12 个字符。没有密码就无法以此用户登录，但令牌可以属于它，例如供脚本使用。',
    newPassword: '新密码', newPasswordHelp: '留空则保留现有密码。设置新密码后，该用户的所有会话都会结束。', suggest: '生成一个', suggested: '请立即复制：保存后不再显示。',
    showPassword: '显示密码', takePassword: '取消密码', takePasswordHelp: '此后无法以此用户登录；它的令牌继续有效。',
    byPassword: '密码', noPassword: '无密码', disabled: '已停用', disabledHelp: '不能登录，其令牌也会被拒绝。', enabled: '可以登录',
    created: '创建于', actionsFor: '{{name}} 的操作', edit: '修改…', tokensOf: '该用户的令牌', auditOf: '该用户的操作记录', delete: '删除…',
    newTitle: '新建用户', editTitle: '修改 {{name}}', create: '创建用户', made: '用户 {{name}} 已创建。', saved: '用户 {{name}} 已修改。', you: '（您）',
    deleteTitle: '删除 {{name}}？', deleteText: '该用户的所有令牌会一并删除，其会话在数秒内结束。该用户创建的任务保持不变。', deleteConfirm: '删除用户', deleted: '用户 {{name}} 已删除。',
    endsSessions: '修改角色或密码会结束该用户的会话；重新登录后按新权限生效。',
    emptyTitle: '还没有用户', emptyText: '您是用首次启动的令牌登录的。请为每位使用控制台的人创建用户，先从您自己开始：这样台账和审计才能说明是谁做的。',
    stale: '在此期间已有他人修改了此用户。请关闭后重新查看列表，再次进行修改。',
  },
  tokens: {
    table: '令牌', new: '新建令牌', name: '令牌', nameHelp: '它的用途。', owner: '属于', noUser: '无用户', may: '角色', lastUsed: '最近使用', from: '来自 {{address}}', expires: '到期', expired: '已过期',
    created: '创建于', delete: '撤销', deleteOf: '撤销令牌 {{name}}', deleteTitle: '撤销 {{name}}？', deleteText: '所有主控节点会在数秒内拒绝它，由它产生的会话也会结束。此操作无法恢复。', deleteOwn: '您正是用此令牌登录的：您将被退出登录。', deleteConfirm: '撤销令牌', deleted: '令牌 {{name}} 已撤销。',
    newTitle: '新建令牌', role: '最高角色', roleHelp: '它的权限永远不会超过所属用户。', user: '用户', userHelp: '令牌属于谁。用户被删除时，令牌随之失效。', ofNoUser: '不属于任何用户：以自己的名称操作', newUser: '新建用户…', newUserHelp: '用于服务：其令牌不会随某个人的用户一起失效。', onlyGroups: '仅限这些分组', onlyGroupsHelp: '留空则不限于某些分组。',
    life: '有效期', lifeHelp: '被遗忘的脚本会自行失效。', lives: { d1: '一天', d7: '7 天', d30: '30 天', d90: '90 天', d365: '一年', never: '永久' }, create: '创建令牌',
    madeTitle: '令牌 {{name}}', madeText: '它只在此显示一次。Carillon 只保存它的哈希值。', madeUse: '请通过文件或变量交给脚本，切勿写在命令行上：', done: '我已复制',
    needsSession: '您是用令牌登录的，而令牌不能创建其他令牌。请以用户身份登录。',
    filter: '{{user}} 的令牌', allUsers: '显示全部', emptyTitle: '没有令牌', emptyText: '脚本或 cronctl 应使用各自的令牌，且只有所需的权限。', unused: '尚未使用',
  },
  sessions: {
    table: '会话', who: '用户', from: '来自', begun: '开始于', ends: '最迟结束于', byToken: '通过令牌 {{id}}', current: '当前会话', end: '结束', endOf: '结束 {{name}} 来自 {{address}} 的会话', endTitle: '结束 {{name}} 的会话？',
    endText: '使用者需要重新登录。所有主控节点会在数秒内拒绝它。', endOwn: '这正是您在使用的会话：您将被退出登录。', endConfirm: '结束会话', ended: '会话已结束。', emptyTitle: '没有会话', help: '会话在八小时未使用或一天之后结束。',
  },
  audit: {
    table: '审计', when: '时间', who: '用户', what: '操作', from: '来自 {{address}}', byToken: '使用令牌 {{id}}', asUser: '以用户 {{user}}', seq: '第 {{seq}} 条', unsealed: '等待封存', changes: '变更内容', field: '字段', before: '之前', after: '之后', nothing: '没有字段变更。',
    show: '显示变更内容：{{what}}', actor: '用户或令牌', object: '名称', ofJob: '所属任务', export: '导出 CSV 文件', anyKind: '任何对象', anyVerb: '所有操作', kind: '对象', verb: '操作', fromTime: '从', toTime: '到',
    noteSaid: '备注：{{note}}', hash: '哈希', emptyTitle: '还没有任何变更', emptyText: '每项变更都在执行它的事务中记录下来：谁、何时、从哪里，以及之前的内容。', noMatch: '没有符合这些条件的记录。', clear: '清除筛选',
    verify: '校验审计链', verifying_one: '已校验 {{n}} 条…', verifying_other: '已校验 {{n}} 条…', intactTitle: '审计链完好', intact_one: '已校验 1 条记录，从内容到位置均正确。', intact_other: '已校验 {{count}} 条记录：没有被篡改、移动、删除或插入。',
    brokenTitle: '审计链已损坏', broken_one: '在 {{checked}} 条记录中发现 1 处问题。', broken_other: '在 {{checked}} 条记录中发现 {{count}} 处问题。', anchorHelp: '请将此哈希值保存在别处，下次校验时比对。', waiting_one: '另有 1 条正在写入日志存储。', waiting_other: '另有 {{count}} 条正在写入日志存储。',
    faultCodes: { altered: '记录与封存时不一致', broken: '与前一条不衔接', missing: '记录缺失', twice: '同一位置出现两次', end: '末端与 etcd 中的不符' }, faultAt: '{{fault}}（第 {{seq}} 条）',
    kinds: { job: '任务', run: '运行', fire: '触发', user: '用户', token: '令牌', session: '会话', 'login-code': '登录链接', worker: '工作节点', channel: '通知渠道', secret: '密钥', view: '已存筛选', hook: 'Web 钩子', lock: '锁', pool: '资源池', maintenance: '维护窗口', defaults: '默认设置', record: 'etcd 中的值', cluster: '集群' },
    noName: '没有名称包含“{{text}}”。', asName: '仅按名称“{{name}}”，例如已删除的', whole: '按完整名称列出记录：请从建议中选择。', several_one: '1 个对象', several_other: '{{count}} 个对象',
    verbs: {
      acknowledge: '确认', unacknowledge: '撤销确认', create: '创建', replace: '保存修改', patch: '修改', rollback: '回滚', pause: '暂停', resume: '恢复', delete: '删除', run: '手动运行', kill: '终止', approve: '批准步骤', reject: '拒绝步骤', backfill: '回填', login: '登录', login_failed: '登录失败', logout: '退出登录',
      retry: '重试', bootstrap: '创建首个管理员', password: '修改密码', test: '测试', 'reset-admin': '重置管理员', reseal: '重新加密', release: '释放', rotate: '更换密钥', recover: '恢复游标', inherit: '随默认设置变更',
    },
  },
  account: {
    title: '我的账户', role: '您的角色', token: '您登录所用的令牌不属于任何用户。请向管理员申请自己的用户，这样审计才能显示是谁做了什么。', ends: '会话最迟结束于',
    passwordTitle: '密码', current: '当前密码', new: '新密码', repeat: '再次输入新密码', differs: '两次输入不一致。', change: '修改密码', changed: '您的密码已修改。您的其他会话均已结束。', passwordHelp: '至少 12 个字符。您的其他会话都会结束。',
    myTokens: '我的令牌', mySessions: '我的会话',
  },
};
