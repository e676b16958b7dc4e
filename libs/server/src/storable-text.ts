/**
 * Where `value` holds a text that Postgres cannot store: with a NUL, or with half of a surrogate pair. JSON and addresses can carry
 * both. Paths are JSONPath below `at`; Buffers are not looked into.
 */
export function unstorableTexts(value: unknown, at: string): string[] {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? [at] : [];
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => unstorableTexts(item, `${at}[${index}]`));
  return Object.entries(value).flatMap(([name, member]) => {
    const path = at === '' ? name : `${at}.${name}`;
    return unstorableTexts(name, at).length > 0 ? [at] : unstorableTexts(member, path);
  });
}
