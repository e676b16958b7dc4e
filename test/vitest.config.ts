import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['source'] },
  // Never add 'import' here: it breaks require() inside pg.
  ssr: { resolve: { conditions: ['source', 'node', 'default'] } },
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    root: '.',
    globals: true,
    env: { LOG_LEVEL: 'silent' },
    include: ['{apps,libs,prisma}/**/*.spec.ts', 'test/**/*.{spec,e2e,conformance}.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
