import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/** One import or re-export. */
export interface Import {
  specifier: string;
  /** Erased before anything runs. */
  isTypeOnly: boolean;
}

/** A TypeScript file of ours, parsed. */
export interface SourceFile {
  /** From the top of the repository, with forward slashes. */
  path: string;
  text: string;
  syntax: ts.SourceFile;
  imports: Import[];
}

/** `libs/contract`, `apps/bff`, `prisma` or `test`: who may import whom is settled between these. */
export function roomOf(path: string): string {
  // The page runs in browsers, so it is a room beside the program that serves it.
  if (path.startsWith('apps/bff/page/')) return 'apps/bff/page';
  const [top = '', second = ''] = path.split('/');
  return top === 'libs' || top === 'apps' ? `${top}/${second}` : top;
}

export function isTest(path: string): boolean {
  return path.startsWith('test/') || /\.(spec|e2e|conformance|fixture)\.ts$/.test(path);
}

const roots = ['apps', 'libs', 'prisma', 'test'];
const passedOver = new Set(['node_modules', 'generated', 'fixtures', 'migrations']);

/** Every TypeScript file of the project. */
export function readTree(): SourceFile[] {
  return roots.flatMap((root) => pathsBelow(root)).map((path) => parse(path, readFileSync(path, 'utf8')));
}

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return passedOver.has(entry.name) ? [] : pathsBelow(path);
    return /\.tsx?$/.test(path) ? [path] : [];
  });
}

export function parse(path: string, text: string): SourceFile {
  const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return { path, text, syntax, imports: importsOf(syntax) };
}

function importsOf(syntax: ts.SourceFile): Import[] {
  const imports: Import[] = [];
  visit(syntax, (node) => {
    if (ts.isImportDeclaration(node))
      imports.push({ specifier: textOf(node.moduleSpecifier), isTypeOnly: isErased(node.importClause) });
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier)
      imports.push({ specifier: textOf(node.moduleSpecifier), isTypeOnly: node.isTypeOnly });
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && node.arguments[0])
      imports.push({ specifier: textOf(node.arguments[0]), isTypeOnly: false });
  });
  return imports;
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : '';
}

function isErased(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = clause.namedBindings;
  return (
    !clause.name && names !== undefined && ts.isNamedImports(names) && names.elements.every((name) => name.isTypeOnly)
  );
}

/** Every node below and including `node`. */
export function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

export function lineOf(file: SourceFile, node: ts.Node): number {
  return file.syntax.getLineAndCharacterOfPosition(node.getStart(file.syntax)).line + 1;
}

/** The file of ours that an import reaches, or undefined for a package. */
export function target(file: Pick<SourceFile, 'path'>, specifier: string): string | undefined {
  const lib = /^#libs\/([\w-]+)$/.exec(specifier)?.[1];
  if (lib) return `libs/${lib}/src/index.ts`;
  if (!specifier.startsWith('.')) return undefined;
  const path = normalize(join(dirname(file.path), specifier)).replaceAll('\\', '/');
  return existsSync(path.replace(/\.js$/, '.tsx')) ? path.replace(/\.js$/, '.tsx') : path.replace(/\.js$/, '.ts');
}
