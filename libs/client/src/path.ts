/** A path whose variable parts are escaped, so that an id can never reach another operation. */
export function path(parts: TemplateStringsArray, ...ids: string[]): string {
  return parts.reduce((sofar, part, index) => `${sofar}${segment(ids[index - 1] ?? '')}${part}`);
}

/** Dots alone would be steps along the path, even escaped once; escaped twice they are an id that nothing has. */
function segment(id: string): string {
  return /^\.+$/.test(id) ? id.replaceAll('.', '%252E') : encodeURIComponent(id);
}
