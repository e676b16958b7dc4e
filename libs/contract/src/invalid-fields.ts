import type { ValidationError } from 'class-validator';
import { Problem, type FieldError } from './problem.js';

/** Where the validated value came from: a body is addressed by JSONPath, everything else by its plain name. */
export type Place = 'body' | 'query' | 'header' | 'path';

/** One Problem naming every member that class-validator refused. */
export function invalidFields(errors: readonly ValidationError[], place: Place = 'body'): Problem {
  const faults = collect(errors, place === 'body' ? '$' : '');
  const issues = faults.map(({ path, message }) => ({
    type: 'INVALID_REQUEST',
    code: 'INVALID_PROPERTY_UNEXPECTED_VALUE',
    parameter: path,
    message,
  }));
  const fields = faults.map(({ path, missing }): FieldError => {
    return { fieldName: path.replace(/^\$\.?/, ''), error: missing ? 'MANDATORY' : 'INVALID_FORMAT' };
  });
  return new Problem({ status: 400, issues, fields });
}

/** The rules that say what a value has to be at all; those about its size say little to whoever sent something else. */
const grave = ['isDefined', 'isArray', 'isObject', 'isString', 'isBoolean', 'isNumber', 'isInt'];

interface Fault {
  path: string;
  message: string;
  missing: boolean;
}

/**
 * Walks the tree of refusals in the order of the class. A rule may place its fault deeper than the member it sits on
 * through its `context`, `{ member: 'amount' }` on `$.paymentRequest.amount` names `$.paymentRequest.amount.amount`, or beside
 * it with `{ sibling }`.
 */
function collect(errors: readonly ValidationError[], parent: string): Fault[] {
  return errors.flatMap((error) => {
    const path = join(parent, error.property);
    const missing = error.value === undefined || error.value === null;
    const faults = Object.entries(error.constraints ?? {}).map(([rule, message]) => {
      return { rule, fault: { path: deeper(path, error.contexts?.[rule]), message, missing } };
    });
    // Of the member itself one fault is told, that it is missing or of another type before all others; those placed elsewhere
    // are told too.
    const here = faults.filter(({ fault }) => fault.path === path);
    const told = grave.map((rule) => here.find((each) => each.rule === rule)).find(Boolean) ?? here.at(-1);
    const own = faults.filter((each) => each === told || each.fault.path !== path).map(({ fault }) => fault);
    return [...own, ...collect(error.children ?? [], path)];
  });
}

function deeper(path: string, context: unknown): string {
  if (typeof context !== 'object' || context === null) return path;
  if ('member' in context && typeof context.member === 'string') return join(path, context.member);
  if ('sibling' in context && typeof context.sibling === 'string') return path.replace(/[^.]+$/, context.sibling);
  return path;
}

function join(parent: string, property: string): string {
  if (/^\d+$/.test(property) && parent !== '') return `${parent}[${property}]`;
  return parent === '' ? property : `${parent}.${property}`;
}
