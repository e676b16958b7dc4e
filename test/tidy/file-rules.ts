import { basename } from 'node:path';
import ts from 'typescript';
import { type SourceFile, isTest, lineOf, visit } from './source-tree.js';

const linesOfFileMax = 300;
const linesOfFunctionMax = 60;

/** Files and functions that are too long to be read at once. */
export function tooLong(file: SourceFile): string[] {
  const lines = file.text.trimEnd().split('\n').length;
  const faults = lines > linesOfFileMax ? [`${file.path} has ${lines} lines`] : [];
  visit(file.syntax, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || !node.body || isSuite(node)) return;
    const length = linesOf(file, node);
    if (length > linesOfFunctionMax) faults.push(`${file.path}:${lineOf(file, node)} is a function of ${length} lines`);
  });
  return faults;
}

function linesOf(file: SourceFile, node: ts.Node): number {
  const { line: first } = file.syntax.getLineAndCharacterOfPosition(node.getStart(file.syntax));
  const { line: last } = file.syntax.getLineAndCharacterOfPosition(node.getEnd());
  return last - first + 1;
}

/** What `describe` is handed is a chapter, not a function. */
function isSuite(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && /^(suite|describe)\b/.test(node.parent.expression.getText());
}

/** Reads the environment outside the one file of a program that may. The launcher is made of environments; a log precedes any config. */
export function straysFromConfig(file: SourceFile): string[] {
  const isAllowed =
    /^apps\/[\w-]+\/src\/config\.ts$/.test(file.path) ||
    /^(test|apps\/stack|prisma)\//.test(file.path) ||
    file.path === 'libs/server/src/logger.ts';
  if (isAllowed) return [];
  return find(file, (node) => ts.isPropertyAccessExpression(node) && node.getText() === 'process.env').map(
    (at) => `${at} reads process.env`,
  );
}

/** `any`, a double cast, a silenced compiler. */
export function unchecked(file: SourceFile): string[] {
  const anys = find(file, (node) => node.kind === ts.SyntaxKind.AnyKeyword).map((at) => `${at} says any`);
  const casts = find(file, isDoubleCast).map((at) => `${at} casts through unknown`);
  const silenced = /@ts-(ignore|nocheck|expect-error)/.test(withoutStrings(file))
    ? [`${file.path} silences the compiler`]
    : [];
  return [...anys, ...casts, ...silenced];
}

function isDoubleCast(node: ts.Node): boolean {
  if (!ts.isAsExpression(node)) return false;
  const inner = ts.isParenthesizedExpression(node.expression) ? node.expression.expression : node.expression;
  return ts.isAsExpression(inner) && inner.type.kind === ts.SyntaxKind.UnknownKeyword;
}

/** The text with strings and patterns blanked, so that a rule does not find itself. */
function withoutStrings(file: SourceFile): string {
  let { text } = file;
  visit(file.syntax, (node) => {
    const isLiteral = ts.isStringLiteralLike(node) || node.kind === ts.SyntaxKind.RegularExpressionLiteral;
    if (isLiteral) text = text.slice(0, node.getStart()) + ' '.repeat(node.getWidth()) + text.slice(node.getEnd());
  });
  return text;
}

/** Certificates that are not checked. The sandbox's server alone looks at them itself, to refuse in the words of a standard. */
export function trustsAnybody(file: SourceFile): string[] {
  if (file.path === 'apps/sandbox-bank/src/listen.ts') return [];
  return find(file, isTrusting).map((at) => `${at} trusts whoever answers`);
}

function isTrusting(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'NODE_TLS_REJECT_UNAUTHORIZED';
  if (!ts.isPropertyAssignment(node)) return false;
  const name = node.name.getText().replaceAll(/['"]/g, '');
  return (
    name === 'NODE_TLS_REJECT_UNAUTHORIZED' ||
    (name === 'rejectUnauthorized' && node.initializer.kind !== ts.SyntaxKind.TrueKeyword)
  );
}

/** The present, read anywhere but in a `clock.ts`. */
export function readsTime(file: SourceFile): string[] {
  if (basename(file.path) === 'clock.ts') return [];
  return find(file, isReading).map((at) => `${at} reads the time past the clock`);
}

function isReading(node: ts.Node): boolean {
  return (
    (ts.isCallExpression(node) && node.expression.getText() === 'Date.now') ||
    (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0)
  );
}

const emptyWords = new Set([
  'Helper',
  'Helpers',
  'Manager',
  'Util',
  'Utils',
  'Common',
  'Shared',
  'Core',
  'Base',
  'Abstract',
  'Impl',
]);

/** Names that say nothing, and file names of another form than `kebab-case.role.ts`. */
export function emptyNames(file: SourceFile): string[] {
  const name = basename(file.path);
  const faults = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.tsx?$/.test(name)
    ? []
    : [`${file.path} is not kebab-case.role.ts`];
  const words = name.split(/[-.]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  if (words.some((word) => emptyWords.has(word))) faults.push(`${file.path} has a name that says nothing`);
  visit(file.syntax, (node) => {
    const declared = declaredName(node);
    if (declared && saysNothing(declared))
      faults.push(`${file.path}:${lineOf(file, node)} ${declared} is a name that says nothing`);
  });
  return faults;
}

function declaredName(node: ts.Node): string | undefined {
  const names =
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isFunctionDeclaration(node);
  return names ? node.name?.text : undefined;
}

function saysNothing(name: string): boolean {
  return (
    /^I[A-Z][a-z]/.test(name) ||
    (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).some((word) => emptyWords.has(word))
  );
}

/** Barrels beside a lib's one, circular providers, tests that do not run. */
export function otherHabits(file: SourceFile): string[] {
  const isBarrel = basename(file.path) === 'index.ts' && !/^libs\/[\w-]+\/src\/index\.ts$/.test(file.path);
  const faults = isBarrel ? [`${file.path} is a barrel`] : [];
  const calls = (pattern: RegExp) =>
    find(file, (node) => ts.isCallExpression(node) && pattern.test(node.expression.getText()));
  faults.push(...calls(/^forwardRef$/).map((at) => `${at} uses forwardRef`));
  if (isTest(file.path))
    faults.push(
      ...calls(/^(it|test|describe|suite)\.(skip|only|todo|fails)$/).map((at) => `${at} does not run as a test`),
    );
  return faults;
}

function find(file: SourceFile, matches: (node: ts.Node) => boolean): string[] {
  const found: string[] = [];
  visit(file.syntax, (node) => {
    if (matches(node)) found.push(`${file.path}:${lineOf(file, node)}`);
  });
  return found;
}
