import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import {
  AccountAuthorisationRequest,
  ApplicationRequest,
  PaymentAuthorisationRequest,
  VrpConfiguration,
} from './index.js';
import { invalidFields, type Place } from './invalid-fields.js';
import { Problem, problemBody, problems } from './problem.js';

function refuse(type: new () => object, plain: object, place: Place = 'body'): Problem {
  return invalidFields(validateSync(plainToInstance(type, plain), { whitelist: true }), place);
}

const account = { type: 'SORT_CODE', identification: '123456' };
const payment = {
  paymentIdempotencyId: 'a1',
  type: 'DOMESTIC_PAYMENT',
  amount: { amount: 1.5, currency: 'GBP' },
  payee: { name: 'Jane', accountIdentifications: [account] },
};
const request = { applicationUserId: 'u', institutionId: 'bank', paymentRequest: payment };

describe('faults of a body', () => {
  it('finds none in a correct payment', () => {
    expect(validateSync(plainToInstance(PaymentAuthorisationRequest, request))).toEqual([]);
  });

  it.each([
    ['$.institutionId', { institutionId: undefined }],
    ['$.institutionId', { institutionId: 7 }],
    ['$.userUuid', { applicationUserId: undefined }],
    ['$.userUuid', { userUuid: 'not-a-uuid' }],
    ['$.callback', { callback: 'javascript:alert(1)' }],
    ['$.oneTimeToken', { oneTimeToken: 'yes' }],
    ['$.paymentRequest', { paymentRequest: undefined }],
    ['$.paymentRequest', { paymentRequest: 'x' }],
    ['$.paymentRequest', { paymentRequest: [] }],
    ['$.paymentRequest.type', { paymentRequest: { ...payment, type: 'GIFT' } }],
    ['$.paymentRequest.reference', { paymentRequest: { ...payment, reference: 'x'.repeat(19) } }],
    ['$.paymentRequest.paymentIdempotencyId', { paymentRequest: { ...payment, paymentIdempotencyId: 'x'.repeat(36) } }],
    ['$.paymentRequest.amount.amount', { paymentRequest: { ...payment, amount: { amount: '1', currency: 'GBP' } } }],
    ['$.paymentRequest.amount.amount', { paymentRequest: { ...payment, amount: { amount: 0, currency: 'GBP' } } }],
    ['$.paymentRequest.amount.currency', { paymentRequest: { ...payment, amount: { amount: 1, currency: 'gbp' } } }],
    ['$.paymentRequest.payee.name', { paymentRequest: { ...payment, payee: { ...payment.payee, name: '' } } }],
    [
      '$.paymentRequest.payee.accountIdentifications[1].type',
      {
        paymentRequest: {
          ...payment,
          payee: { name: 'J', accountIdentifications: [account, { ...account, type: 'X' }] },
        },
      },
    ],
    [
      '$.paymentRequest.payee.accountIdentifications',
      { paymentRequest: { ...payment, payee: { name: 'J', accountIdentifications: [account, account] } } },
    ],
  ])('names %s', (parameter, change) => {
    expect(refuse(PaymentAuthorisationRequest, { ...request, ...change }).issues).toMatchObject([{ parameter }]);
  });

  it('names a scope that does not exist by its list', () => {
    const body = { applicationUserId: 'u', institutionId: 'b', accountRequest: { featureScope: ['ACCOUNTS', 'GOLD'] } };
    expect(refuse(AccountAuthorisationRequest, body).issues).toMatchObject([
      { code: 'INVALID_PROPERTY_UNEXPECTED_VALUE', parameter: '$.accountRequest.featureScope' },
    ]);
  });

  it('gathers all of them in one problem', () => {
    const refused = refuse(PaymentAuthorisationRequest, { paymentRequest: { amount: {} } });
    expect(new Set(refused.issues.map((issue) => issue.parameter))).toEqual(
      new Set([
        '$.institutionId',
        '$.userUuid',
        '$.paymentRequest.amount.amount',
        '$.paymentRequest.amount.currency',
        '$.paymentRequest.payee',
        '$.paymentRequest.paymentIdempotencyId',
        '$.paymentRequest.type',
      ]),
    );
  });

  it('reads null as absent where a member is optional', () => {
    expect(validateSync(plainToInstance(PaymentAuthorisationRequest, { ...request, callback: null }))).toEqual([]);
  });

  it('reads forwarded parameters as a list or as an object', () => {
    const read = (forwardParameters: unknown) =>
      plainToInstance(AccountAuthorisationRequest, { forwardParameters }).forwardParameters;
    expect(read(['a=1', 'b'])).toEqual(['a=1', 'b']);
    expect(read({ a: '1', 'b c': 'd&e' })).toEqual(['a=1', 'b%20c=d%26e']);
    expect(read({ a: 1, b: null, c: { d: true } })).toEqual(['a=1', 'c=%7B%22d%22%3Atrue%7D']);
    expect(refuse(AccountAuthorisationRequest, { ...request, forwardParameters: [1] }).issues).toMatchObject([
      { parameter: '$.forwardParameters' },
    ]);
  });
});

it('says of a value of another type that it is one, not that it is too large', () => {
  const refused = refuse(VrpConfiguration, { maximumCumulativeNumberOfPayments: 'many' });
  expect(refused.issues).toMatchObject([
    {
      parameter: '$.maximumCumulativeNumberOfPayments',
      message: 'maximumCumulativeNumberOfPayments must be an integer number',
    },
  ]);
});

it('tells a missing member from a malformed one in the field list', () => {
  const refused = refuse(ApplicationRequest, { name: 'a/b', merchantCategoryCode: '12', isContractPresent: true });
  expect(problemBody(refused, 'field-list', 't')).toEqual({
    errors: [
      { fieldName: 'name', error: 'INVALID_FORMAT' },
      { fieldName: 'merchantCategoryCode', error: 'INVALID_FORMAT' },
      { fieldName: 'ppcUserGroup', error: 'MANDATORY' },
    ],
  });
});

it('has the field list for every refused application body, whatever is wrong with it', () => {
  const said = (refused: Problem) => problemBody(refused, 'field-list', 't');
  expect(said(problems.badRequest())).toEqual({ errors: [{ fieldName: 'body', error: 'INVALID_FORMAT' }] });
  expect(said(problems.badRequest({ parameter: '$.name' }))).toEqual({
    errors: [{ fieldName: 'name', error: 'INVALID_FORMAT' }],
  });
  expect(said(problems.notFound())).toHaveProperty('error');
});

it('accepts a merchant category code as a number', () => {
  const body = { name: 'A', merchantCategoryCode: 742, ppcUserGroup: 'FINANCE', isContractPresent: false };
  const application = plainToInstance(ApplicationRequest, body);
  expect(validateSync(application)).toEqual([]);
  expect(application.merchantCategoryCode).toBe('0742');
});

describe('the four bodies', () => {
  const tracingId = '0123456789abcdef0123456789abcdef';
  const body = (problem: Problem, shape: Parameters<typeof problemBody>[1]) => problemBody(problem, shape, tracingId);

  it('standard', () => {
    const refused = problems.unexpectedValue({ parameter: 'limit', message: 'must be between 1 and 1000' });
    expect(problemBody(refused, 'standard', tracingId, { source: 'OURS', supportUrl: 'https://help.example' })).toEqual(
      {
        error: {
          tracingId,
          code: 400,
          status: 'BAD_REQUEST',
          supportUrl: 'https://help.example',
          source: 'OURS',
          issues: [
            {
              type: 'INVALID_REQUEST',
              code: 'INVALID_PROPERTY_UNEXPECTED_VALUE',
              parameter: 'limit',
              message: 'must be between 1 and 1000',
            },
          ],
        },
      },
    );
  });

  it('minimal', () => {
    expect(body(problems.credentialsMissing(), 'minimal')).toEqual({
      error: { code: 401, status: 'UNAUTHORIZED', message: 'Full authentication is required to access this resource' },
    });
    expect(body(problems.notFound(), 'minimal')).toMatchObject({
      error: { code: 404, status: 'NOT_FOUND', tracingId },
    });
  });

  it('numeric', () => {
    const codes = [
      problems.unexpectedValue({ parameter: '$.delay' }),
      problems.credentialsMissing(),
      problems.credentialsInvalid(),
      problems.notFound(),
      problems.notAcceptableMaximum(),
      problems.internal(),
      problems.conflict(),
    ].map(
      (problem) => body(problem, 'numeric') as { error: { status: string; issues: { type: string; code: unknown }[] } },
    );
    expect(codes.map(({ error }) => [error.status, error.issues[0]?.type, error.issues[0]?.code])).toEqual([
      ['BAD_REQUEST', 'BAD_REQUEST', 10600],
      ['UNAUTHORIZED', 'CREDENTIALS', 'CREDENTIALS_MISSING'],
      ['UNAUTHORIZED', 'CREDENTIALS', 10700],
      ['NOT FOUND', 'INVALID_REQUEST', 10800],
      ['NOT_ACCEPTABLE', 'RESOURCE', 14007],
      ['INTERNAL SERVER ERROR', 'INTERNAL_SERVER_ERROR', 11000],
      ['CONFLICT', 'INVALID_REQUEST', 'CONFLICT'],
    ]);
  });

  it('shows what the institution said, and nothing of ours', () => {
    expect(body(problems.institutionFailed({ errorMessage: '{"code":"x"}', httpStatusCode: 500 }), 'standard')).toEqual(
      {
        error: {
          tracingId,
          code: 424,
          status: 'FAILED_DEPENDENCY',
          source: 'INSTITUTION',
          institutionError: { errorMessage: '{"code":"x"}', httpStatusCode: 500 },
        },
      },
    );
  });
});

it('asks for credentials and says when to come back in headers', () => {
  expect(problems.credentialsMissing().headers['www-authenticate']).toMatch(/^Basic realm=/);
  expect(problems.tooManyRequests({ retryAfter: 7 }).headers).toEqual({ 'retry-after': '7' });
  const failed = { errorMessage: 'Enough', httpStatusCode: 429 };
  expect(problems.institutionFailed({ ...failed, retryAfterMs: 1_200 }).headers).toEqual({ 'retry-after': '2' });
  expect(problems.institutionFailed(failed).headers).toEqual({});
});
