import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, type ValidationError, validate } from 'class-validator';
import { invalidFields, type Place, problems } from '#libs/contract';
import { unstorableTexts } from './storable-text.js';

type Class = new () => object;

/** Types that declare no members: what has them is handed on as it came. */
const plainTypes = new Set<unknown>([
  String,
  Boolean,
  Number,
  BigInt,
  Symbol,
  Array,
  Object,
  Date,
  Buffer,
  Map,
  Set,
  Promise,
]);

const places: Readonly<Record<ArgumentMetadata['type'], Place | undefined>> = {
  body: 'body',
  query: 'query',
  param: 'path',
  custom: undefined,
};

function isClass(type: unknown): type is Class {
  return typeof type === 'function' && !plainTypes.has(type);
}

/**
 * Turns bodies, queries and path parameters into the class their handler declares, or refuses them with every fault at once.
 * Members the class does not know are dropped, as compatible services do; no value changes its type by itself.
 */
@Injectable()
class ContractPipe implements PipeTransform {
  constructor(private readonly itemClass?: Class) {}

  async transform(value: unknown, { metatype, type, data }: ArgumentMetadata): Promise<unknown> {
    const place = places[type];
    if (place === undefined) return value;
    refuseUnstorable(value, place === 'body' ? '$' : (data ?? ''));
    if (this.itemClass) return this.list(value, this.itemClass, place);
    if (!isClass(metatype)) return value;
    if (!isRecord(value)) throw missingOrWrong(value, 'an object');
    return checked(metatype, value, place);
  }

  /** A body that is a list. Its faults are named `$[0].path`. */
  private async list(value: unknown, itemClass: Class, place: Place): Promise<unknown[]> {
    if (!Array.isArray(value)) throw missingOrWrong(value, 'a list');
    const items: object[] = [];
    const faults: ValidationError[] = [];
    for (const [index, item] of value.entries()) {
      if (!isRecord(item)) throw problems.unexpectedValue({ parameter: `$[${index}]`, message: 'must be an object' });
      const { instance, errors } = await examine(itemClass, item);
      items.push(instance);
      if (errors.length > 0) faults.push({ property: String(index), value: item, children: errors });
    }
    if (faults.length > 0) throw invalidFields(faults, place);
    return items;
  }
}

/**
 * What is declared of a class does not change, but class-validator looks through every class of the program for it at each
 * call, which took longer than checking the values. No groups are used here, so it depends on the class alone.
 */
function rememberDeclarations(): void {
  const storage = getMetadataStorage();
  const search = storage.getTargetValidationMetadatas.bind(storage);
  const found = new Map<unknown, ReturnType<typeof search>>();
  storage.getTargetValidationMetadatas = (target, ...rest) => {
    const known = found.get(target) ?? search(target, ...rest);
    found.set(target, known);
    return known;
  };
}

rememberDeclarations();

async function checked(type: Class, value: object, place: Place): Promise<object> {
  const { instance, errors } = await examine(type, value);
  if (errors.length > 0) throw invalidFields(errors, place);
  return instance;
}

async function examine(type: Class, value: object): Promise<{ instance: object; errors: ValidationError[] }> {
  const instance = plainToInstance(type, value, { enableImplicitConversion: false });
  const errors = await validate(instance, { whitelist: true, forbidUnknownValues: false, stopAtFirstError: false });
  return { instance, errors };
}

function refuseUnstorable(value: unknown, at: string): void {
  const faults = unstorableTexts(value, at);
  if (faults.length === 0) return;
  const message = 'must be well-formed Unicode without NUL';
  const issues = faults.map((parameter) => problems.unexpectedValue({ parameter, message }).issues);
  throw problems.unexpectedValues(issues.flat());
}

function missingOrWrong(value: unknown, expected: string): Error {
  const absent = value === undefined || value === null;
  return problems.badRequest({
    parameter: '$',
    message: absent ? 'A request body is required' : `The body must be ${expected}`,
  });
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The pipe for a whole program, or, with `listOf`, for one `@Body()` whose members are of that class. */
export function createValidationPipe(options: { listOf?: Class } = {}): PipeTransform {
  return new ContractPipe(options.listOf);
}
