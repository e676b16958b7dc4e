import 'reflect-metadata';
import { mkdir, writeFile } from 'node:fs/promises';
import { describeModule, MetricsModule } from '#libs/server';
import { AppModule, programModule } from './app.module.js';
import { Env } from './config.js';
import { describedAs } from './openapi-description.js';

// Nothing is constructed and nothing connected, so the settings are never read.
const document = await describeModule(programModule(new Env(), [MetricsModule, AppModule]), describedAs);
await mkdir('dist/openapi', { recursive: true });
await writeFile('dist/openapi/aggregator.json', `${JSON.stringify(document, null, 2)}\n`);
console.log('dist/openapi/aggregator.json');
