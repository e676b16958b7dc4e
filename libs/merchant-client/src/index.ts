export * from './merchant-client.js';
export { MerchantApiError, type Schemas } from './merchant-api-error.js';
