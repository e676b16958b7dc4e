import { defineConfig, env } from 'prisma/config';

// For the ordinary Prisma CLI, which downloads its engine: npx prisma migrate status --config prisma/bff/prisma.config.mjs
const url = new URL(env('DATABASE_URL'));
url.searchParams.set('schema', 'bff');

export default defineConfig({ schema: '.', migrations: { path: 'migrations' }, datasource: { url: url.href } });
