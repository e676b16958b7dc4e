import ts from 'typescript';
import { type SourceFile, isTest, lineOf, visit } from './source-tree.js';

/**
 * Row level security shows the aggregator nothing outside a scope, so `asSystem` is the one door past it. Jobs may use it; every
 * other file that does is here, with its reason.
 */
const mayActAsSystem: Readonly<Record<string, string>> = {
  'apps/aggregator/src/auth/credentials.service.ts': 'finds out who is asking',
  'apps/aggregator/src/applications/applications.service.ts': 'creates root applications and finds a parent',
  'apps/aggregator/src/applications/application-keys.service.ts': 'the operator’s commands',
  'apps/aggregator/src/authorisations/callback.service.ts': 'a browser comes back from a bank with nothing but a state',
  'apps/aggregator/src/authorisations/qr-codes.service.ts': 'a camera opens a QR code by its random name',
  'apps/aggregator/src/consents/consent-sweep.service.ts': 'the sweep job',
  'apps/aggregator/src/payments/payment-follow.service.ts': 'the poll job',
  'apps/aggregator/src/webhooks/deliveries.service.ts': 'the delivery job',
  'apps/aggregator/src/webhooks/outbox.service.ts': 'the operator’s commands',
};

const isJob = (path: string): boolean => path.endsWith('.processor.ts');

/** Aggregator code that reads past the tenant it works for. */
export function actsAsSystem(file: SourceFile): string[] {
  if (!file.path.startsWith('apps/aggregator/') || isTest(file.path) || isJob(file.path)) return [];
  if (file.path in mayActAsSystem) return [];
  const faults: string[] = [];
  visit(file.syntax, (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'asSystem')
      faults.push(`${file.path}:${lineOf(file, node)} acts for every tenant`);
  });
  return faults;
}

/** Every entry of the list is needed. */
export function needlessPermits(files: SourceFile[]): string[] {
  const using = new Set(files.filter(({ text }) => /\basSystem\(/.test(text)).map(({ path }) => path));
  return Object.keys(mayActAsSystem).filter((path) => !using.has(path));
}

const tenantTables =
  /\b(?:from|join|update|delete from)\s+(customers|connections|accounts|transactions|changes|events|payments|sync_runs)\b/i;
const owners = /customer_id|merchant_id|connection_id|account_id|state_hash|\bid = \$|\bid = any/i;

/** SQL of the BFF on a customer's rows that names neither a row nor an owner. Jobs take what is due from everybody. */
export function unownedQueries(file: SourceFile): string[] {
  if (!/^apps\/bff\/src\/(?!sync\/|ingestion\/)/.test(file.path) || isTest(file.path) || isJob(file.path)) return [];
  const faults: string[] = [];
  visit(file.syntax, (node) => {
    if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return;
    const text = node.getText();
    const table = tenantTables.exec(text)?.[1];
    // Conditions that are put together elsewhere in the function count as the query's own.
    const conditions = /where \$\{/i.test(text) ? (ts.findAncestor(node, ts.isFunctionLike)?.getText() ?? text) : text;
    if (table && !owners.test(conditions))
      faults.push(`${file.path}:${lineOf(file, node)} reads ${table} without an owner`);
  });
  return faults;
}
