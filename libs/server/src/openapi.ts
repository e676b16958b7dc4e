import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { asRoot } from './metrics.js';

export interface OpenApiOptions {
  title: string;
  version: string;
  description?: string;
  /** How callers prove who they are: Basic for the interface, bearer tokens or an API key for our own. */
  security?: readonly ('basic' | 'bearer' | { apiKeyHeader: string })[];
  /** Adds to the whole what no decorator says of each operation. */
  complete?: (document: OpenAPIObject) => void;
}

/** The OpenAPI description of everything the program routes. An operation's id is the name of its method. */
export function createOpenApiDocument(app: INestApplication, options: OpenApiOptions): OpenAPIObject {
  const builder = new DocumentBuilder().setTitle(options.title).setVersion(options.version);
  if (options.description) builder.setDescription(options.description);
  for (const scheme of options.security ?? []) addSecurity(builder, scheme);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_controller, method) => method,
  });
  options.complete?.(document);
  return document;
}

function addSecurity(builder: DocumentBuilder, scheme: 'basic' | 'bearer' | { apiKeyHeader: string }): void {
  if (scheme === 'basic') builder.addBasicAuth().addSecurityRequirements('basic');
  else if (scheme === 'bearer') builder.addBearerAuth().addSecurityRequirements('bearer');
  else
    builder
      .addApiKey({ type: 'apiKey', in: 'header', name: scheme.apiKeyHeader }, 'apiKey')
      .addSecurityRequirements('apiKey');
}

/** Serves `/docs`, `/docs-json` and `/docs-yaml`. The document is built when first asked for: start-up does not pay for it. */
export function serveDocs(app: INestApplication, options: OpenApiOptions): void {
  SwaggerModule.setup('docs', app, () => createOpenApiDocument(app, options));
}

/**
 * The description of a program that is not started: its modules are read, but nothing is constructed, so no database, queue or
 * variable is needed.
 */
export async function describeModule(AppModule: Type | DynamicModule, options: OpenApiOptions): Promise<OpenAPIObject> {
  const app = await NestFactory.create(asRoot(AppModule), new FastifyAdapter(), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  return createOpenApiDocument(app, options);
}
