/** What the law of a country asks of lasting access to accounts. */
export interface ConsentRule {
  /** Days after which the bank must ask for strong authentication again; absent where it asks only once. */
  scaDays?: number;
  /** Whether it is enough that the customer confirms to us, without the bank. */
  isReconfirmable: boolean;
}

/** Regulation (EU) 2018/389, article 10(2)(b), as amended by (EU) 2022/2360: 180 days. */
const eea: ConsentRule = { scaDays: 180, isReconfirmable: false };
/** UK technical standards on SCA, articles 10A and 36(6): one authentication, then the customer's word every 90 days. */
const unitedKingdom: ConsentRule = { isReconfirmable: true };
/** Where we know no law, only what the consent says itself counts. */
const elsewhere: ConsentRule = { isReconfirmable: false };

const eeaCountries = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK'.split(
  ' ',
);

const rules: ReadonlyMap<string, ConsentRule> = new Map([
  ['GB', unitedKingdom],
  ...eeaCountries.map((country): [string, ConsentRule] => [country, eea]),
]);

/** What is known of one institution beside the law; null where the law holds. */
export interface RuleOverride {
  /** 0 where the bank asks only once. */
  scaDays: number | null;
  isReconfirmable: boolean | null;
}

/** The rule with what is known of the institution itself, which counts before the law. */
export function overridden(rule: ConsentRule, { scaDays, isReconfirmable }: RuleOverride): ConsentRule {
  const { scaDays: byLaw, ...rest } = rule;
  const days = scaDays ?? byLaw ?? 0;
  return {
    ...rest,
    ...(isReconfirmable === null ? {} : { isReconfirmable }),
    ...(days === 0 ? {} : { scaDays: days }),
  };
}

/** The rule for an institution of these countries (ISO 3166-1 alpha-2): with several, whichever asks for more. */
export function ruleOf(countries: readonly string[]): ConsentRule {
  const found = (countries.length === 0 ? [''] : countries).map((country) => rules.get(country) ?? elsewhere);
  const days = found.flatMap(({ scaDays }) => (scaDays === undefined ? [] : [scaDays]));
  const isReconfirmable = found.every((rule) => rule.isReconfirmable);
  return days.length === 0 ? { isReconfirmable } : { scaDays: Math.min(...days), isReconfirmable };
}
