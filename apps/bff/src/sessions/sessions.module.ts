import { Module } from '@nestjs/common';
import { OriginsService } from './origins.service.js';
import { CustomersModule } from '../customers/customers.module.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';

@Module({ imports: [CustomersModule], controllers: [SessionsController], providers: [SessionsService, OriginsService] })
export class SessionsModule {}
