import { Integer, Nested, Text } from '#libs/contract';

export class ProblemIssue {
  @Text() code!: string;
  @Text({ optional: true, description: 'JSON Pointer (RFC 6901) to the faulty member of the body.' }) pointer?: string;
  @Text({ optional: true, description: 'Name of the faulty query parameter or header.' }) parameter?: string;
  @Text({ optional: true }) message?: string;
}

/** Every refusal and failure (RFC 9457), as `application/problem+json`. */
export class ProblemDetails {
  @Text() type!: string;
  @Text() title!: string;
  @Integer() status!: number;
  @Text() detail!: string;
  @Text({ optional: true, description: 'The path. Absent where no request could be read.' }) instance?: string;
  @Text({ description: 'Quote it to the operator.' }) tracingId!: string;
  @Text({ optional: true }) code?: string;
  @Nested(() => ProblemIssue, { array: true, optional: true }) issues?: ProblemIssue[];
}
