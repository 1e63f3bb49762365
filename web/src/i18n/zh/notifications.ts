import type { Texts } from '../texts.ts';
import type { notifications as english } from '../en/notifications.ts';

export const notifications: Texts<typeof english> = {
  notifications: {
    title: '通知', channels: '渠道', deliveries: '投递记录', silent: '未设告警的任务', adminsOnly: '只有管理员可以创建、修改和测试渠道。',
  },
  names: { removeAll: '全部移除' },
  usedBy: { jobs_one: '{{count}} 个任务', jobs_other: '{{count}} 个任务', none: '没有任务', show: '使用 {{name}} 的任务', more_one: '另有 1 个', more_other: '另有 {{count}} 个' },
  channels: {
    table: '渠道', new: '新建渠道', newEllipsis: '新建渠道…', name: '渠道', nameHelp: '任务以此名称引用它，之后不能更改。a–z、0–9、“.”、“_”、“-”。', nameTaken: '已有同名的渠道。',
    kind: '类型', kinds: { webhook: 'Webhook', mail: '邮件', slack: 'Slack', pagerduty: 'PagerDuty', teams: 'Microsoft Teams', discord: 'Discord', mattermost: 'Mattermost', telegram: 'Telegram', dingtalk: '钉钉', feishu: '飞书、Lark', wecom: '企业微信', ntfy: 'ntfy', opsgenie: 'Opsgenie', ping: '心跳检查（Healthchecks）' },
    hints: {
      webhook: '自己的程序：以 POST 接收带签名的 JSON（Standard Webhooks）。', mail: '通过设置中的邮件服务器，向每个地址单独发送邮件。',
      slack: '在 Slack 中：打开应用的 Incoming Webhooks，选择 Add New Webhook to Workspace。',
      pagerduty: '在 PagerDuty 中：打开服务的 Integrations，添加 Events API V2，复制 Integration Key。',
      teams: '在 Teams 中：打开频道的“工作流”，选择“收到 Teams Webhook 请求时”。',
      discord: '在 Discord 中：编辑频道，打开“整合”中的 Webhook，复制其网址。',
      mattermost: '在 Mattermost 中：打开“集成”，添加传入 Webhook。',
      telegram: '在 Telegram 中：由 @BotFather 得到令牌，再把机器人加入会话。',
      dingtalk: '在钉钉中：群设置，机器人，自定义；选择“加签”时还需其密钥。',
      feishu: '在飞书中：群设置，群机器人，自定义机器人；启用签名校验时还需其密钥。',
      wecom: '在企业微信中：打开群，添加群机器人，复制其 Webhook 地址。',
      ntfy: '主题的网址；主题受保护时还需访问令牌。',
      opsgenie: '在 Opsgenie 中：Settings，Integrations，API；欧盟实例还需填写其网址。',
      ping: '检查的 Ping 网址：失败时请求 …/fail，恢复时请求该网址本身。',
    },
    destination: '目标', last: '最近一次投递', jobs: '使用者', never: '尚未发送过', pending_one: '1 条待发', pending_other: '{{count}} 条待发',
    off: '已停用', cannotSend: '无法发送', noMail: '此服务器不发送邮件：各 master 未设置 smtpHost 和 smtpFrom。在设置之前，通知将等待，最多一天。', actionsFor: '{{name}} 的操作', edit: '修改…', deliveriesOf: '投递记录', delete: '删除…',
    newTitle: '新建渠道', editTitle: '修改 {{name}}', create: '创建渠道', madeTitle: '渠道 {{name}} 已创建', savedTitle: '渠道 {{name}} 已保存', done: '完成', copied: '我已复制',
    url: '网址', urlHelp: '按机密处理：之后只显示其主机。通知以 JSON 格式通过 POST 发送。', urlKept: '目前为 {{origin}}。留空则保留现有网址。', unchanged: '保持不变',
    secret: '签名密钥', secretHelp: '接收方用它验证请求。留空则自动生成，并显示一次。', secretKept: '不会显示。留空则保留现有的值。',
    key: '密钥或令牌', chat: '会话 ID', language: '语言', fieldHelp: '按机密处理：之后不再显示。', fieldOptional: '可选。按机密处理：之后不再显示。', showField: '显示“{{field}}”',
    newSecret: '生成新的签名密钥', newSecretHelp: '保存后，旧密钥立即失效。', secretOnce: '签名密钥，只在此显示一次。接收方用它验证请求（Standard Webhooks）。',
    to: '邮件地址', toHelp: '每行一个。每个地址单独收到一封邮件。', disabled: '停用', disabledHelp: '不再发送。发往它的新通知会失败。',
    stale: '在此期间已有他人修改了此渠道。请关闭后重新进行修改。',
    tryIt: '发送一条测试消息，确认能够收到。', test: '发送测试', testOf: '发送测试到 {{name}}', tested: '接收方已接受测试消息。', answered: '响应：{{status}}。',
    emptyTitle: '还没有渠道', emptyText: '渠道是一个 Webhook、聊天或告警服务，或一组邮件地址。任务把失败、延迟和恢复通知到渠道。', emptyAsk: '管理员可以创建渠道。',
    deleteTitle: '删除 {{name}}？', deleteUsed_one: '有 1 个任务使用它，发往此渠道的通知将失败：', deleteUsed_other: '有 {{count}} 个任务使用它，发往此渠道的通知将失败：', deleteUnused: '没有任务使用它。',
    deletePending: '尚未发出的通知也会失败。', deleteConfirm: '删除渠道', deleted: '渠道 {{name}} 已删除。',
  },
  deliveries: {
    table: '投递记录', when: '创建时间', what: '通知', channel: '渠道', result: '状态', attempts: '尝试次数', next: '下次尝试', now: '现在', anyChannel: '所有渠道', anyStatus: '所有状态', run: '运行',
    status: { waiting: '待发送', retrying: '重试中', sent: '已送达', failed: '失败' },
    events: { failed: '失败', missed: '错过', lost: '丢失', late: '延迟', recovered: '恢复', approval: '等待审批', paused: '已暂停', output: '输出', step_failed: '步骤失败', escalated: '已升级', digest: '免打扰汇总', summary: '汇总', summary_recovered: '恢复汇总', summary_output: '输出汇总', test: '测试' },
    codes: {
      channel_unknown: '渠道不存在。', channel_disabled: '渠道已停用。', channel_sealed: '渠道是用该主控节点没有的密钥加密的。', kind_unavailable: '当选的主控节点不能发送到此类渠道：邮件需要设置 smtpHost，新的类型需要升级后的主控节点。',
      refused: '被拒绝，或地址不被允许。', gone: '接收方回答 410 Gone，渠道已停用。', gave_up: '重试一天后放弃。', trouble: '最近一次尝试失败。',
    },
    answer: '响应 {{status}}', more_one: '另有 1 个任务', more_other: '另有 {{count}} 个任务', retry: '重试', retryOf: '重试发往 {{channel}} 的投递', requeued: '将在 15 秒内重新发送。',
    emptyTitle: '还没有投递记录', emptyText: '此处列出最近七天的通知，以及每次尝试的结果。', noMatch: '没有符合筛选条件的投递。', clear: '清除筛选',
  },
  silent: {
    table: '未设告警的任务', job: '任务', group: '分组', schedule: '计划', manual: '手动', setUp: '设置…', setUpOf: '设置… {{name}}', inJobs: '在任务列表中查看', text_one: '有 1 个任务失败时不通知任何渠道。', text_other: '有 {{count}} 个任务失败时不通知任何渠道。',
    noneTitle: '所有任务都已设告警', none: '所有任务失败时都会通知一个启用的渠道。',
  },
  secrets: {
    title: '密钥', intro: '任务在环境变量中以 secret:名称 引用密钥。其值加密保存，不会再次显示。',
    table: '密钥', new: '新建密钥', name: '密钥', nameHelp: '任务以 secret:{{name}} 引用它，之后不能更改。', nameTaken: '已有同名的密钥。', groups: '分组', allGroups: '所有分组',
    groupsHelp: '只有这些分组的任务可以使用，用逗号分隔。留空则所有分组的任务均可使用。', jobs: '使用者', set: '设值时间', updated: '修改', by: '由 {{who}}', description: '说明', descriptionHelp: '它的用途。请勿在此填写密钥的值。',
    value: '值', valueHelp: '8 至 4096 字节，可以有多行。', newValue: '新的值', newValueHelp: '留空则保留现有的值。保存之后启动的运行使用新值。',
    hide: '隐藏输入内容', actionsFor: '{{name}} 的操作', replace: '修改或替换…', delete: '删除…',
    newTitle: '新建密钥', editTitle: '修改 {{name}}', create: '创建密钥', made: '密钥 {{name}} 已创建。任务以 secret:{{name}} 引用它。', saved: '密钥 {{name}} 已保存。',
    stale: '在此期间已有他人修改了此密钥。请关闭后重新进行修改。',
    emptyTitle: '还没有密钥', emptyText: '请在此保存密码和令牌，而不要写在任务定义中。运行启动时由工作节点填入，并在输出中遮盖。', emptyAsk: '分组的管理员可以为其任务创建密钥。',
    deniedTitle: '此页面仅供编辑者使用', denied: '编辑者可以在任务中使用其分组的密钥，分组的管理员负责创建和替换。',
    deleteTitle: '删除 {{name}}？', deleteUsed_one: '有 1 个任务引用它，其运行将被拒绝：', deleteUsed_other: '有 {{count}} 个任务引用它，其运行将被拒绝：', deleteUnused: '没有任务引用它。删除后无法恢复其值。', deleteConfirm: '删除密钥', deleted: '密钥 {{name}} 已删除。',
  },
  health: {
    title: '健康检查', again: '重新检查', checked: '检查时间：{{at}}，主控节点 {{master}}，版本 {{version}}。', noneTitle: '没有发现问题', none_one: '1 项检查通过。', none_other: '全部 {{count}} 项检查通过。',
    groups: {
      failing_one: '1 项故障', failing_other: '{{count}} 项故障', warning_one: '1 项警告', warning_other: '{{count}} 项警告', unknown_one: '1 项检查没有结果', unknown_other: '{{count}} 项检查没有结果', ok_one: '1 项检查通过', ok_other: '{{count}} 项检查通过',
    },
    passed_one: '1 项检查通过', passed_other: '{{count}} 项检查通过', advice: '处理办法：', open: '打开“{{page}}”',
    status: { failing: '故障', warning: '警告', unknown: '未知', ok: '正常' },
    checks: {
      etcd: 'etcd 成员', etcd_version: 'etcd 版本', lock: '命名锁', etcd_space: 'etcd 空间', clock: '时钟', watch: '任务监视', log_store: '日志存储', outbox: '待写入的结果', changes: '待写入的变更', certificate: '证书', workers: '工作节点', worker: '工作节点', daemons: '常驻任务', tokens: '令牌',
      versions: '版本', zone_data: '时区数据', elected: '当选的主控节点', masters: '主控节点', loops: '后台任务', job: '单个任务', jobs: '任务', audit: '审计', notifications: '通知', housekeeping: '清理', records: '存储的值',
    },
    records: {
      title_one: 'etcd 中有 1 个值无法解码', title_other: 'etcd 中有 {{count}} 个值无法解码', facts: '{{size}}，修订号 {{revision}}',
      delete: '删除…', deleteOf: '删除 {{key}}', deleteTitle: '删除此值？', deleteText: '删除后无法恢复。如果它由更新版本的 Carillon 写入，请改为升级。', deleteConfirm: '删除此值', deleted: '已删除 {{key}}。',
      kinds: {
        after: '已消耗的成功', approval: '批准', channel: '渠道', flow_node: '流程运行的节点', flow_run: '流程运行', job: '任务', lock: '命名锁', maintenance: '维护窗口', notification: '通知', outcome: '结果',
        hook: 'Web 钩子', pool: '资源池', run: '运行', secret: '密钥', success: '最近一次成功', token: '令牌', trigger: '触发请求', user: '用户', view: '保存的筛选', worker_settings: '工作节点设置',
      },
    },
    settings: {
      title_one: '1 个已离开的工作节点留有设置', title_other: '{{count}} 个已离开的工作节点留有设置', drained: '已排空', changed: '由 {{who}} 修改，{{at}}',
      delete: '删除…', deleteOf: '删除 {{id}} 的设置', deleteTitle: '删除 {{id}} 的设置？', deleteText: '将删除标签、槽位、权重和排空状态。该工作节点若恢复，将使用它自己的设置并领取运行。', deleteConfirm: '删除设置', deleted: '已删除 {{id}} 的设置。',
    },
  },
};
