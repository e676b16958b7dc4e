import { farCandidates } from './far-candidates.js';
import { policyOf } from './identity-policy.js';
import { Ledger, row } from './ledger.fixture.js';

const flagOf = (ledger: Ledger) => ledger.live.map(({ flag }) => flag).find((flag) => flag !== null);

describe('a booking that nothing links', () => {
  it('names the pending row of its amount that went, however far and differently it reads', () => {
    const ledger = new Ledger();
    ledger.policy = { ...policyOf(ledger.evidence), daysBefore: 0, daysAfter: 1 };
    ledger.see([row({ pending: true, day: 1, amount: -71 }), row({ amount: -5 })]);
    const pending = ledger.live.find(({ row: { status } }) => status === 'PENDING');
    ledger.see([row({ day: 25, amount: -71, text: 'ZZ 4711' }), row({ amount: -5 })]);
    expect(flagOf(ledger)).toEqual({ reason: 'uncertain-link', candidates: [pending?.id] });
  });

  it('is in no doubt for another amount', () => {
    const ledger = new Ledger();
    ledger.see([row({ pending: true, amount: -71 }), row({ amount: -5 })]);
    ledger.see([row({ day: 2, amount: -72, text: 'ZZ 4711' }), row({ amount: -5 })]);
    expect(flagOf(ledger)).toBeUndefined();
  });
});

it('tells the nearest five', () => {
  const known = Array.from({ length: 20 }, (_, index) => {
    const rest = { flag: null, into: null, apartFrom: [], dismissed: null };
    return { ...row({ pending: true, day: index + 1 }), ...rest, id: `t${index + 1}` };
  });
  const booked = row({ day: 10 });
  const [ids] = farCandidates({ known, rows: [booked] }, { anySign: false }).values();
  expect(ids?.toSorted((a, b) => a.localeCompare(b))).toEqual(['t10', 't11', 't12', 't8', 't9']);
  expect(farCandidates({ known, rows: [row({ amount: 3.5 })] }, { anySign: false }).size).toBe(0);
  expect(farCandidates({ known, rows: [row({ amount: 3.5 })] }, { anySign: true }).size).toBe(1);
});
