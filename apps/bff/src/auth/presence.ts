import { isIP } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { header, problems, type PsuHeaders, readPsuHeaders } from '#libs/contract';

/** What the rules below ask of a request. */
type Arrived = Pick<FastifyRequest, 'headers' | 'ip'>;

/**
 * The address of whoever sent the request, as institutions want it; undefined where it is none. Behind a proxy it is the
 * customer's only when the proxy is trusted.
 */
function senderOf({ ip }: Arrived): PsuHeaders | undefined {
  const psuIpAddress = ip.replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(psuIpAddress) === 0 ? undefined : { psuIpAddress };
}

/**
 * Who is present. A session is one customer's frontend, so the customer is at its other end; a merchant's backend names the
 * customer's address, or nobody is there.
 */
export function presenceOf(request: Arrived): PsuHeaders | undefined {
  const psu = readPsuHeaders(request.headers);
  if (psu.psuIpAddress !== undefined && isIP(psu.psuIpAddress) === 0)
    throw problems.unexpectedValue({ parameter: header.psuIpAddress, message: 'must be an IP address' });
  if (psu.psuIpAddress !== undefined) return psu;
  const sender = request.headers['customer-id'] === undefined ? senderOf(request) : undefined;
  return sender && { ...psu, ...sender };
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}

/** Describes how a merchant's backend says that the customer is present. */
export const ApiPresence = (): MethodDecorator =>
  ApiHeader({
    name: header.psuIpAddress,
    required: false,
    description: 'The address of the customer who is present now. A call with a session’s token needs none.',
  });

/** Describes by what name a bank knows the customer, which it has to be told where they are asked on a device of theirs. */
export const ApiPsuId = (): MethodDecorator =>
  ApiHeader({
    name: header.psuId,
    required: false,
    description: 'The customer’s user name at the bank, for banks that ask them on a device of theirs (decoupled).',
  });

/** The customer who is present at a call; undefined when nobody is. */
export const PresentCustomer = createParamDecorator((_: unknown, context: ExecutionContext) =>
  presenceOf(requestOf(context)),
);

/** The customer whose browser comes back from the bank; undefined when its address is not known. */
export const ReturningCustomer = createParamDecorator((_: unknown, context: ExecutionContext) =>
  senderOf(requestOf(context)),
);
