import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** The figures of one program: inject it and hand it to `new Counter({ registers: [metrics], … })`. */
export class Metrics extends Registry {}

/** Makes `Metrics` injectable everywhere. */
@Global()
@Module({ providers: [{ provide: Metrics, useFactory: () => new Metrics() }], exports: [Metrics] })
export class MetricsModule {}

/** A program's module together with what every program has: `Metrics`. What is made without `bootstrap` needs it too. */
export function asRoot(AppModule: Type | DynamicModule): DynamicModule {
  return { module: class RootModule {}, imports: [MetricsModule, AppModule] };
}

/** Seconds per request by method, route template and status: never by address, which would give every id a series of its own. */
export function createRequestHistogram(metrics: Metrics): Histogram<'method' | 'route' | 'status'> {
  return new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [metrics],
  });
}

const processFigures = new WeakSet<Metrics>();

/** The registry as Prometheus reads it. Memory, CPU and event loop delay are gathered from the first reading on. */
export async function exposition(metrics: Metrics): Promise<{ contentType: string; text: string }> {
  if (!processFigures.has(metrics)) {
    processFigures.add(metrics);
    collectDefaultMetrics({ register: metrics });
  }
  return { contentType: metrics.contentType, text: await metrics.metrics() };
}
