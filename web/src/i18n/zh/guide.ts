import type { guide as texts } from '../en/guide.ts';
import type { Texts } from '../texts.ts';

export const guide: Texts<typeof texts> = {
  guide: {
    title: '使用指南', page: '页面', contents: '指南目录', unknown: '指南中没有这个页面。', toFirst: '打开首页', code: '代码', table: '表格',
    parts: { start: '入门', jobs: '任务', operation: '运维', inside: '工作原理' },
    pages: {
      README: '简介', console: 'Web 控制台', cronctl: '命令行：cronctl', 'migrate-from-crontab': '从 crontab 迁移', glossary: '术语表', CHANGELOG: '更新内容',
      jobs: '任务', cron: '计划', flows: '流程', types: '任务类型', daemons: '常驻任务', sdk: 'Go 函数作为任务', history: '历史与输出', notifications: '通知', maintenance: '维护窗口', secrets: '密钥', hooks: 'Web 钩子', 'run-as': '命令的运行用户', lock: '命名锁',
      deploy: '部署', configuration: '配置', access: '用户与角色', sso: '单点登录', security: '安全', audit: '审计', metrics: '指标', backup: '备份',
      architecture: '架构', reliability: '可靠性', protocol: '协议', benchmarks: '性能测试',
    },
  },
};
