import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';

/** How faults are told; a test puts its own functions here. */
interface Exits {
  print: (text: string) => void;
  exit: (code: number) => never;
}

const processExits: Exits = {
  print: (text) => void process.stderr.write(text),
  exit: (code) => process.exit(code),
};

type Source = Readonly<Record<string, string | undefined>>;

/**
 * Reads the variables that `EnvClass` declares with the decorators of libs/contract or class-validator. Numbers and booleans are
 * read by the member's type, an empty text counts as absent, a member's initial value is its default. On faults every faulty
 * variable is named, never with its value, and the process ends with 1.
 */
export function loadEnv<T extends object>(EnvClass: new () => T, source: Source, exits: Exits = processExits): T {
  const defaults = new Map<string, unknown>(Object.entries(new EnvClass()));
  const given: Record<string, unknown> = {};
  for (const name of variablesOf(EnvClass)) {
    const text = source[name]?.trim();
    if (text) given[name] = read(text, typeOf(EnvClass, name, defaults.get(name)));
  }
  const env = plainToInstance(EnvClass, given, { exposeDefaultValues: true });
  const faults = validateSync(env, { whitelist: true, forbidUnknownValues: false }).map((error) => error.property);
  if (faults.length === 0) return env;
  const lines = faults.map((name) => `  ${name}: ${given[name] === undefined ? 'missing' : 'not valid'}`);
  exits.print(`Cannot start. Faulty variables:\n${lines.join('\n')}\n`);
  return exits.exit(1);
}

/** Every variable an Env class declares, in order of declaration. */
export function variablesOf(EnvClass: new () => object): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(EnvClass, '', false, false);
  return [...new Set(rules.map((rule) => rule.propertyName))];
}

function typeOf(EnvClass: new () => object, name: string, initial: unknown): 'number' | 'boolean' | 'string' {
  const declared: unknown = Reflect.getMetadata('design:type', EnvClass.prototype, name);
  if (declared === Number || typeof initial === 'number') return 'number';
  return declared === Boolean || typeof initial === 'boolean' ? 'boolean' : 'string';
}

/** An unreadable number or boolean stays a text, so that the rule on the member refuses it. */
function read(text: string, type: 'number' | 'boolean' | 'string'): unknown {
  if (type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === 'string') return text;
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : text;
}
