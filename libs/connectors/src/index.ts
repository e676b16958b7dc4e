export * from './connector.js';
export * from './institution-error.js';
export * from './bank-http.js';
export * from './registry.js';
export * from './institutions.js';
export * from './walk.js';
