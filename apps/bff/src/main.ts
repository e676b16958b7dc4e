import 'reflect-metadata';
import { join } from 'node:path';
import { bootstrap } from '#libs/server';
import { AppModule, programModule } from './app.module.js';
import { readEnv, Role } from './config.js';
import { programOptions } from './program-options.js';
import { WorkerModule } from './worker.module.js';

const env = readEnv();
const modules = env.ROLE === Role.api ? [AppModule] : [AppModule, WorkerModule];
await bootstrap(programModule(env, modules), programOptions(env, join(import.meta.dirname, '../page')));
