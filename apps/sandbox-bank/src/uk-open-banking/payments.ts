import type { FastifyInstance } from 'fastify';
export function registerPayments(_app: FastifyInstance, _x: object): void {}
