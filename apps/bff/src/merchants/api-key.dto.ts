import { DateTime, Flag, Nested, Text, Uuid } from '#libs/contract';
import { ListPage } from '../list.dto.js';

export class NewApiKey {
  @DateTime({
    optional: true,
    description:
      'When the key that signs this call ends: the overlap of a rotation. Without it that key stays until it is revoked.',
    example: '2027-01-31T00:00:00.000Z',
  })
  expiresAt?: string;
}

export class ApiKeyView {
  @Uuid() id!: string;
  @Text({ description: 'The first characters of the key.', example: 'trb_9fQx' }) prefix!: string;
  @DateTime() createdAt!: string;
  @DateTime({ optional: true, description: 'To the minute; absent while it was never used.' }) lastUsedAt?: string;
  @DateTime({ optional: true }) expiresAt?: string;
  @DateTime({ optional: true }) revokedAt?: string;
  @Flag({ description: 'Whether it signs this call.' }) current!: boolean;
}

export class CreatedApiKey extends ApiKeyView {
  @Text({ description: 'Shown here and never again.', example: 'trb_9fQxT0k3V1mZ7uYcB2aWdE5hJ8lNpQrS4tUvXyZ6A0o' })
  apiKey!: string;
}

export class ApiKeyList extends ListPage {
  @Nested(() => ApiKeyView, { array: true }) data!: ApiKeyView[];
}
