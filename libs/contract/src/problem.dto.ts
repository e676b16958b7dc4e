import { ApiProperty } from '@nestjs/swagger';
import { enumeration } from './enumeration.js';
import { Choice, Integer, Nested, Text } from './field.js';

export class InstitutionError {
  @Text({ optional: true }) errorMessage?: string;
  @Integer({ optional: true, format: 'int32' }) httpStatusCode?: number;
}

/** The error of the older families; `issues` name the members at fault. */
export class ApiError {
  @Integer({ always: true, format: 'int32' }) code!: number;
  @Nested(() => InstitutionError, { optional: true }) institutionError?: InstitutionError;
  @Text({ optional: true }) message?: string;
  @Text({ optional: true }) source?: string;
  @Text({ optional: true }) status?: string;
  @Text({ optional: true }) tracingId?: string;
  @Text({ optional: true }) supportUrl?: string;
  @Nested(() => ErrorIssue, { optional: true, array: true }) issues?: ErrorIssue[];
}

export class ApiResponseError {
  @Nested(() => ApiError, { always: true }) error!: ApiError;
}

export class ErrorIssue {
  @Text() type!: string;
  /** A name as text, or the number itself where the interface numbers its codes. */
  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'integer' }] }) code!: string | number;
  @Text({ optional: true }) parameter?: string;
  @Text({ optional: true }) message?: string;
  @Nested(() => InstitutionError, { optional: true }) institutionError?: InstitutionError;
}

export class ErrorDetails {
  @Text() tracingId!: string;
  @Integer({ format: 'int32' }) code!: number;
  @Text() status!: string;
  @Text({ optional: true }) supportUrl?: string;
  @Text({ optional: true }) source?: string;
  @Nested(() => InstitutionError, { optional: true }) institutionError?: InstitutionError;
  @Nested(() => ErrorIssue, { optional: true, array: true }) issues?: ErrorIssue[];
}

export class ApiErrorResponse {
  @Nested(() => ErrorDetails, { always: true }) error!: ErrorDetails;
}

/** An issue of the families whose codes are numbers. */
export class NumberedIssue {
  @Text({ optional: true }) type?: string;
  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'integer' }] }) code!: string | number;
  @Text({ optional: true }) parameter?: string;
  @Text() message!: string;
}

export class NumberedErrorDetails {
  @Text() tracingId!: string;
  @Integer({ format: 'int32' }) code!: number;
  @Text() status!: string;
  @Text({ optional: true }) supportUrl?: string;
  @Text({ optional: true }) source?: string;
  @Nested(() => NumberedIssue, { array: true }) issues!: NumberedIssue[];
}

export class ApiErrorResponseV2 {
  @Nested(() => NumberedErrorDetails, { always: true }) error!: NumberedErrorDetails;
}

export const EnumError = enumeration('MANDATORY', 'INVALID_FORMAT');
export type EnumError = keyof typeof EnumError;

export class ValidationError {
  @Text({ format: 'string' }) fieldName!: string;
  @Choice(EnumError, 'EnumError') error!: EnumError;
}

export class ValidationErrorResponse {
  @Nested(() => ValidationError, { always: true, array: true }) errors!: ValidationError[];
}
