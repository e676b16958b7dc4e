import { Global, Module } from '@nestjs/common';
import { AggregatorClient } from '#libs/client';
import { currentTracingId } from '#libs/server';
import { Env } from '../config.js';
import { MerchantAggregator } from './merchant-aggregator.js';

/** The one way to banks: the interface over HTTP, with the root application's credentials. */
@Global()
@Module({
  providers: [
    MerchantAggregator,
    {
      provide: AggregatorClient,
      inject: [Env],
      useFactory: (env: Env) =>
        new AggregatorClient({
          baseUrl: env.AGGREGATOR_URL,
          applicationId: env.AGGREGATOR_APPLICATION_ID,
          applicationSecret: env.AGGREGATOR_APPLICATION_SECRET,
          tracingId: currentTracingId,
        }),
    },
  ],
  exports: [AggregatorClient, MerchantAggregator],
})
export class AggregatorModule {}
