import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { describeModule } from './openapi.js';

let constructed = 0;

@Injectable()
class DatabaseService {
  constructor() {
    constructed += 1;
  }
}

@Controller('things')
class ThingsController {
  constructor(private readonly database: DatabaseService) {}
  @Get(':id') getThing() {
    return this.database;
  }
}

@Module({ controllers: [ThingsController], providers: [DatabaseService] })
class ThingsModule {}

describe('describeModule', () => {
  it('describes a program without constructing anything of it', async () => {
    const document = await describeModule(ThingsModule, {
      title: 'Things',
      version: '12.17.0',
      security: ['basic', { apiKeyHeader: 'x-key' }],
    });
    expect(document.info).toMatchObject({ title: 'Things', version: '12.17.0' });
    expect(document.paths['/things/{id}']?.get?.operationId).toBe('getThing');
    expect(document.components?.securitySchemes).toHaveProperty('apiKey');
    expect(constructed).toBe(0);
  });
});
