import { Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module.js';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { DeprecatedController } from './deprecated.controller.js';

@Module({ imports: [ApplicationsModule, InstitutionsModule], controllers: [DeprecatedController] })
export class DeprecatedModule {}
