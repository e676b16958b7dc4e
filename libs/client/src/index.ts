export * from './aggregator-client.js';
export * from './client-error.js';
export * from './client-options.js';
export { DownloadedFile } from './http-call.js';
export * from './verify-webhook.js';
