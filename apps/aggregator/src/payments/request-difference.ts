/**
 * The JSONPath of the first property in which the two differ, in the order of the authorised one; undefined when they are
 * equal. Members that are absent and members that are undefined are the same; lists must agree in order.
 */
export function firstDifference(authorised: unknown, sent: unknown, path = '$'): string | undefined {
  if (Array.isArray(authorised) && Array.isArray(sent)) {
    if (authorised.length !== sent.length) return path;
    for (let at = 0; at < authorised.length; at += 1) {
      const difference = firstDifference(authorised[at], sent[at], `${path}[${at}]`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (isPlain(authorised) && isPlain(sent)) {
    const names = new Set([...Object.keys(authorised), ...Object.keys(sent)]);
    for (const name of names) {
      const difference = firstDifference(authorised[name], sent[name], `${path}.${name}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return Object.is(authorised, sent) ? undefined : path;
}

/** The same text for the same content, whatever the order in which the members were sent; input of the fingerprint. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (isPlain(value)) {
    const members = Object.keys(value)
      .filter((name) => value[name] !== undefined)
      .toSorted()
      .map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
