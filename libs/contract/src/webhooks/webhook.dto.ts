import { enumeration } from '../enumeration.js';
import { Choice, Integer, Json, Nested, Text, Url, Uuid } from '../field.js';

export const WebhookStatusType = enumeration('active', 'paused');
export type WebhookStatusType = keyof typeof WebhookStatusType;

/** `meta` under the name that the webhook operations give it; here the tracing id has the dashes of a UUID. */
export class Metadata {
  @Uuid({ always: true }) tracingId!: string;
}

export class WebhookUrl {
  @Url() url!: string;
}

/** Where events go: `backup` is tried when `main` does not answer. */
export class WebhookCallbackUrls {
  @Nested(() => WebhookUrl) main!: WebhookUrl;
  @Nested(() => WebhookUrl, { optional: true }) backup?: WebhookUrl;
}

export class RegisteredUrl {
  @Url({ always: true }) url!: string;
}

export class RegisteredCallbackUrls {
  @Nested(() => RegisteredUrl, { always: true }) main!: RegisteredUrl;
  @Nested(() => RegisteredUrl, { optional: true }) backup?: RegisteredUrl;
}

export class RegisterWebhookRequest {
  @Uuid() applicationId!: string;
  @Text({ array: { min: 1, unique: true } }) categories!: string[];
  @Nested(() => WebhookCallbackUrls) callbackUrl!: WebhookCallbackUrls;
  /** Copied into every delivery; under 10 kB in all. */
  @Json({ optional: true, values: 'string' }) metadata?: Record<string, string>;
}

export class RegisteredWebhook {
  @Uuid({ always: true }) id!: string;
  @Uuid({ always: true }) applicationId!: string;
  @Text({ always: true, array: true }) categories!: string[];
  @Nested(() => RegisteredCallbackUrls, { always: true }) callbackUrl!: RegisteredCallbackUrls;
  @Json({ optional: true, values: 'string' }) metadata?: Record<string, string>;
}

export class RegisteredWebhookWithStatus extends RegisteredWebhook {
  @Choice(WebhookStatusType, 'WebhookStatusType', { always: true }) status!: WebhookStatusType;
}

/** The only answers that show the secret: registration and reset. */
export class WebhookWithSecret extends RegisteredWebhookWithStatus {
  @Text({ always: true }) webhookSecret!: string;
}

export class ResetWebhookSecretRequest {
  /** For how many seconds the old secret goes on signing. */
  @Integer({ min: 0, max: 86_400 }) delay!: number;
}

export class WebhookWithSecretResponse {
  @Nested(() => Metadata, { always: true }) metadata!: Metadata;
  @Nested(() => WebhookWithSecret, { always: true }) data!: WebhookWithSecret;
}

export class RegisteredWebhookResponse {
  @Nested(() => Metadata, { always: true }) metadata!: Metadata;
  @Nested(() => RegisteredWebhook, { always: true }) data!: RegisteredWebhook;
}

export class ActiveWebhooks {
  @Nested(() => RegisteredWebhookWithStatus, { always: true, array: true }) active!: RegisteredWebhookWithStatus[];
}

export class RegisteredWebhooksResponse {
  @Nested(() => Metadata, { always: true }) metadata!: Metadata;
  @Nested(() => ActiveWebhooks, { always: true }) data!: ActiveWebhooks;
}

export class CategoryStructure {
  @Text({ always: true }) name!: string;
  @Text({ always: true }) description!: string;
}

export class WebhookCategories {
  @Nested(() => CategoryStructure, { always: true, array: true }) categories!: CategoryStructure[];
}

export class WebhookCategoriesResponse {
  @Nested(() => Metadata, { always: true }) metadata!: Metadata;
  @Nested(() => WebhookCategories, { always: true }) data!: WebhookCategories;
}

/** What a delivery carries. `id` is the webhook's, which is why deliveries have an identity of their own in a header. */
export interface WebhookEvent<Event = unknown> {
  id: string;
  applicationId: string;
  type: string;
  event: Event;
  metadata?: Record<string, string>;
}
