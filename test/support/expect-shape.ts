import 'reflect-metadata';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';

/** Fails unless `value` is exactly what the contract's class declares: nothing missing, nothing more. */
export function expectShape<T extends object>(shape: ClassConstructor<T>, value: object): void {
  const instance = plainToInstance(shape, value);
  const faults = validateSync(instance, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  expect(faults.flatMap((fault) => namesOf(fault))).toEqual([]);
}

function namesOf({ property, constraints, children }: ValidationError): string[] {
  const own = Object.keys(constraints ?? {}).map((rule) => `${property}: ${rule}`);
  return [...own, ...(children ?? []).flatMap((child) => namesOf(child).map((name) => `${property}.${name}`))];
}
