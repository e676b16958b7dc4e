import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
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
export class AggregatorModule implements OnApplicationShutdown {
  constructor(private readonly client: AggregatorClient) {}

  /** After the last request and job: what is under way may still be answered. */
  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }
}
