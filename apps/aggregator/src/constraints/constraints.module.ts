import { Module } from '@nestjs/common';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { ConstraintsController } from './constraints.controller.js';
import { ConstraintsService } from './constraints.service.js';

@Module({ imports: [InstitutionsModule], controllers: [ConstraintsController], providers: [ConstraintsService] })
export class ConstraintsModule {}
