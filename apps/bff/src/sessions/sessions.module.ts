import { Module } from '@nestjs/common';
import { OriginsService } from './origins.service.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';

@Module({ controllers: [SessionsController], providers: [SessionsService, OriginsService] })
export class SessionsModule {}
