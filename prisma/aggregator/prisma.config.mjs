import { defineConfig, env } from 'prisma/config';

// For the ordinary Prisma CLI, which downloads its engine: npx prisma migrate status --config prisma/aggregator/prisma.config.mjs
const url = new URL(env('DATABASE_URL'));
url.searchParams.set('schema', 'aggregator');

export default defineConfig({ schema: '.', migrations: { path: 'migrations' }, datasource: { url: url.href } });
