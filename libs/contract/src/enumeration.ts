/** An enumeration whose keys are its wire values: one declaration gives the values and, through `keyof`, their union. */
export function enumeration<const Name extends string>(...names: Name[]): { readonly [Value in Name]: Value } {
  return Object.fromEntries(names.map((name) => [name, name])) as { [Value in Name]: Value };
}
