import type { FastifyInstance } from 'fastify';
export function registerPaymentConsents(_app: FastifyInstance, _x: object): void {}
