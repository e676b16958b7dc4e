import Table from 'cli-table3';

export interface Printed {
  json: boolean;
  /** What is printed as JSON. */
  raw: unknown;
}

/** A table for a person, or JSON for a program. */
export function print(head: string[], rows: (string | number)[][], { json, raw }: Printed): void {
  if (json) {
    console.log(JSON.stringify(raw));
    return;
  }
  const table = new Table({ head });
  table.push(...rows);
  console.log(table.toString());
}
