import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { ApiKeyStrategy } from './api-key.strategy.js';
import { SessionStrategy } from './session.strategy.js';

@Module({ imports: [PassportModule], providers: [ApiKeyStrategy, SessionStrategy] })
export class AuthModule {}
