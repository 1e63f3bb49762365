import type { hooks as english } from '../en/hooks.ts';
import type { Texts } from '../texts.ts';

export const hooks: Texts<typeof english> = {
  hooks: {
    title: 'Web 钩子', help: '无需令牌即可启动任务的 URL：供代码托管平台、监控系统或网页表单使用。指南中有示例。',
    new: '新建…', none: '没有：任务不能通过 URL 启动。', disabled: '已停用', unsigned: '无签名', perMinute: '每分钟 {{most}} 次', sets: '设置 {{params}}', createdAt: '创建于', rotatedAt: 'URL 更换于',
    actionsFor: 'Web 钩子 {{name}} 的操作', edit: '编辑…', rotate: '更换 URL…', enable: '启用', disable: '停用', delete: '删除…',
    newTitle: '新建 Web 钩子', editTitle: '编辑 Web 钩子 {{name}}', create: '创建', name: '名称', nameHelp: '其运行显示为由 hook:名称 启动。', nameTaken: '此任务已有同名的 Web 钩子。',
    params: '参数', paramsHelp: '值的来源。请求中没有值时会被拒绝，除非允许缺失。', sourceOf: '{{name}} 的来源：{{kind}}', optional: '可以缺失：使用默认值', optionalOf: '{{name}} 可以缺失：使用默认值',
    sources: { none: '默认值', path: 'JSON 正文中的路径', field: '表单字段或查询参数', value: '固定值' },
    signature: '签名', signatures: { github: 'GitHub 签名', gitlab: 'GitLab 令牌', timestamp: '带时间的签名' },
    signatureHelp: { none: '持有 URL 的任何人都能启动任务。', github: 'X-Hub-Signature-256；也适用于 Gitea 和 Forgejo。', gitlab: 'X-Gitlab-Token：即密钥本身。', timestamp: 'X-Carillon-Signature：带时间的 HMAC-SHA256，有效期 5 分钟。' },
    secret: '密钥', secretHelp: '留空则随机生成，只显示一次。', secretKept: '留空则保留现有密钥。', rate: '每分钟请求数', rateHelp: '超出的请求在这一分钟内会被拒绝。',
    saved: 'Web 钩子 {{name}} 已保存。', onceTitle: 'Web 钩子 {{name}}', urlOnce: 'URL 只显示这一次：', secretOnce: '签名密钥只显示这一次：', copied: '我已复制',
    rotateTitle: '更换 {{name}} 的 URL？', rotateText: '当前的 URL 随即失效，请把新的 URL 告知发送方。', rotateConfirm: '更换 URL',
    deleteTitle: '删除 Web 钩子 {{name}}？', deleteText: '其 URL 随即失效。', deleteConfirm: '删除 Web 钩子', deleted: 'Web 钩子 {{name}} 已删除。',
  },
};
